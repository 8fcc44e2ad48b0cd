"""Writers of stored pages in the formats of other programs; each turns pages into bytes, independent of files."""
