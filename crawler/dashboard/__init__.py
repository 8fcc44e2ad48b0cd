"""The dashboard: a web page over the state of all crawls, live while they run.

A request comes over a connection with limits (.server), is checked (.access), and goes to the view that its address
names (.app). A view reads the database for a moment (crawler.store.read_only) and renders a template. The views' data
is JSON under `/api/`. Changes are people's labels and jobs, in the database; runs that are started here write logs.
"""
