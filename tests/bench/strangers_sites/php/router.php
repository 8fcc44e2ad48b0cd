<?php
// For `php -S`: files as they are, everything else by index.php, as the rewrite rules of a web server do it.
$path = rawurldecode(parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH));
$file = $_SERVER['DOCUMENT_ROOT'] . $path;
if (is_file($file) || (is_dir($file) && is_file("$file/index.php") && $path != '/')) {
    return false;
}
$_SERVER['SCRIPT_NAME'] = $_SERVER['PHP_SELF'] = '/index.php';
require $_SERVER['DOCUMENT_ROOT'] . '/index.php';
