<?php
// Installs WordPress in the folder of the first argument and fills it with the articles of the second (JSON).
[, $folder, $file, $url, $permalinks] = $argv;
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
$wp_rewrite->set_permalink_structure($permalinks);
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
$photos = [];
foreach (glob("$folder/wp-content/uploads/*.png") as $number => $path) {
    $title = 'DSC_00' . (10 + $number);
    $photo = wp_insert_attachment(['post_title' => $title, 'post_mime_type' => 'image/png'], $path);
    update_attached_file($photo, $path);
    wp_update_attachment_metadata($photo, wp_generate_attachment_metadata($photo, $path));
    $photos[] = $photo;
}
foreach (json_decode(file_get_contents($file), true) as $number => $article) {
    $html = $article['html'];
    if ($article['photo']) {
        $photo = $photos[intdiv($number, 3) % count($photos)];
        $html = '<p><a href="' . get_attachment_link($photo) . '">' . wp_get_attachment_image($photo, 'medium') . "</a></p>$html";
    }
    $post = wp_insert_post([
        'post_title' => $article['title'],
        'post_name' => $article['slug'],
        'post_content' => $html,
        'post_status' => 'publish',
        'post_author' => $authors[$article['author']],
        'post_date' => $article['date'],
        'post_date_gmt' => $article['date'],
        'post_category' => [wp_create_category($article['category'])],
        'tags_input' => $article['tags'],
    ]);
    $parent = 0;
    $begun = strtotime($article['date']);
    foreach ($article['comments'] as $count => $comment) {
        $parent = wp_insert_comment([
            'comment_post_ID' => $post,
            'comment_author' => ['Dora', 'Emil', 'Fay', 'Gus'][$count % 4],
            'comment_content' => $comment,
            'comment_date' => gmdate('Y-m-d H:i:s', $begun + ($count + 24) * 3600),
            'comment_parent' => $count % 3 == 1 ? $parent : 0,
            'comment_approved' => 1,
        ]);
    }
}
wp_insert_post([
    'post_title' => 'A letter under seal',
    'post_name' => 'a-letter-under-seal',
    'post_content' => '<p>' . str_repeat('Only friends may read this. ', 20) . '</p>',
    'post_status' => 'publish',
    'post_author' => $authors[0],
    'post_date' => '2019-06-01 10:00:00',
    'post_password' => 'friends',
]);
