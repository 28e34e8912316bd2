// Keeps a server's page up to date while it is open: see GET /servers/:uuid/live.
export {}
