"""The dashboard: a web page over the state of all crawls, live while they run.

A request comes in through the server (.server), past the door (.door), to the view that its address names (.routes).
A view reads the database for a moment (crawler.store.read_only), and puts what it found into a template. What `/api/`
gives as JSON is what the views show. What is changed here are people's labels and jobs, in the
database; runs that are started here write their logs.
"""
