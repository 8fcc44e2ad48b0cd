<?php
// Fills the DokuWiki in the folder of the first argument with the articles of the second (JSON), each in two edits.
[, $folder, $file] = $argv;
define('DOKU_INC', "$folder/");
define('NOSESSION', 1);
$_SERVER['REMOTE_ADDR'] = '127.0.0.1';
require DOKU_INC . 'inc/init.php';
$articles = json_decode(file_get_contents($file), true);
foreach (['first draft', 'more links'] as $turn => $summary) {
    foreach ($articles as $article) {
        $text = $article['dokuwiki'];
        saveWikiText($article['id'], $turn ? $text : substr($text, 0, intdiv(strlen($text), 2)), $summary);
    }
    sleep(1); // or both edits would have the same time
}
foreach ($articles as $article) {
    idx_addPage($article['id'], false, true);
}
