/**
 * Uses Patchbay through one client: `node use.mjs CLIENT`, with `SERVER_URL` and `SERVER_TOKEN` in the environment.
 * Prints what the client saw, as one line of JSON: the names of the tools and the text of one call, or its own words on
 * the state of the connection.
 */
const [client, ...args] = process.argv.slice(2)
const { SERVER_URL: url, SERVER_TOKEN: token } = process.env
const { use } = await import(`./clients/${client}.mjs`)
const used = await use({ url, headers: { Authorization: `Bearer ${token}` } }, ...args)
process.stdout.write(`\n${JSON.stringify(used)}\n`, () => process.exit(0))
