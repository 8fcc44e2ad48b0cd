"""The dashboard: a web page over the state of all crawls, live while they run.

A request comes in through the server (.server), past the door (.door), to the view that its address names (.routes).
A view reads the database for a moment (crawler.state.glance), and puts what it found into a template. What `/api/`
gives as JSON is what the views show. Nothing here writes to a file, and nothing but people's marks and jobs to the
database.
"""
