<?php
// Installs WordPress in the folder of the first argument and fills it with the articles of the second (JSON).
[, $folder, $file, $url] = $argv;
$_SERVER['HTTP_HOST'] = parse_url($url, PHP_URL_HOST) . ':' . parse_url($url, PHP_URL_PORT);
$_SERVER['REQUEST_METHOD'] = 'GET';
define('WP_INSTALLING', true);
require "$folder/wp-load.php";
require_once "$folder/wp-admin/includes/upgrade.php";
add_filter('pre_wp_mail', '__return_true');
wp_install('Notes on Nature', 'editor', 'editor@example.org', true, '', 'a-password-of-the-bench');
foreach ([1, 2, 3] as $number) {
    wp_delete_post($number, true);
}
switch_theme('twentytwentyone');
$wp_rewrite->set_permalink_structure('/%year%/%monthnum%/%postname%/');
$wp_rewrite->flush_rules(false);
update_option('page_comments', 1);
update_option('comments_per_page', 10);
update_option('thread_comments', 1);
$authors = [];
foreach (['Ann Lee', 'Bert Moss', 'Cleo Park'] as $name) {
    $login = strtolower(strtok($name, ' '));
    $user = ['user_login' => $login, 'user_pass' => 'pass', 'display_name' => $name, 'role' => 'author'];
    $authors[] = wp_insert_user($user);
}
foreach (json_decode(file_get_contents($file), true) as $number => $article) {
    $day = gmdate('Y-m-d H:i:s', 1230800000 + $number * 20 * 86400);
    $post = wp_insert_post([
        'post_title' => $article['title'],
        'post_name' => $article['slug'],
        'post_content' => $article['html'],
        'post_status' => 'publish',
        'post_author' => $authors[$number % 3],
        'post_date' => $day,
        'post_date_gmt' => $day,
        'post_category' => [wp_create_category($article['category'])],
        'tags_input' => $article['tags'],
    ]);
    $parent = 0;
    for ($comment = 0; $comment < ($number % 3 ? 4 : 24); $comment++) {
        $parent = wp_insert_comment([
            'comment_post_ID' => $post,
            'comment_author' => ['Dora', 'Emil', 'Fay', 'Gus'][$comment % 4],
            'comment_content' => "Remark $comment on {$article['title']}: " . $article['remarks'][$comment % 8],
            'comment_date' => gmdate('Y-m-d H:i:s', 1230900000 + $number * 20 * 86400 + $comment * 3600),
            'comment_parent' => $comment % 3 == 1 ? $parent : 0,
            'comment_approved' => 1,
        ]);
    }
}
