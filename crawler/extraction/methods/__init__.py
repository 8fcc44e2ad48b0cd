"""The extraction methods of papers, one module for each; one paper has two methods and two modules."""
