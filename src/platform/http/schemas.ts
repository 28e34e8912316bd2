import { z } from 'zod'

/** An id in a path. One that is no UUID names nothing; it is refused before the database sees it. */
export const uuidParam = z.uuid('is no UUID')
export const uuidParams = z.object({ id: uuidParam })

/** A time as the API shows it: ISO 8601 in UTC. */
export const timeSchema = z.iso.datetime()
