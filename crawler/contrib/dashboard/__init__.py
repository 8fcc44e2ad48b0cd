"""The dashboard: web pages about the state of all crawls, live while they run.

A request comes over a connection with limits (.server), is checked (.access), and goes to the view for its address
(.app). A view reads the database briefly (crawler.store.read_only) and renders a template. The views' data is also
available as JSON under `/api/`. Visitors can change labels and jobs, pause and stop crawls, and erase pages; each
change is recorded in the database. Runs of jobs that start here write logs.
"""
