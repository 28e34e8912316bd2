import type { Client } from 'pg'

/** Runs statements in a transaction of the client, which is rolled back if one of them fails. */
export const inTransaction = async <T>(client: Client, run: () => Promise<T>): Promise<T> => {
  await client.query('BEGIN')
  try {
    const done = await run()
    await client.query('COMMIT')
    return done
  } catch (error) {
    // If the connection is gone, there is nothing to roll back.
    await client.query('ROLLBACK').catch(() => undefined)
    throw error
  }
}
