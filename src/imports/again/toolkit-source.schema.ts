import { z } from 'zod'
import { orNull, timeSchema } from '../../lib/http/schemas.ts'
import { hasUserInfo } from '../../templates/base-url.ts'
import { IMPORT_KINDS } from '../import.ts'
import { CHECK_INTERVALS, FoundChanges } from './toolkit-source.ts'

const MAX_URL_CHARS = 2_000

const checkEvery = z
  .enum(CHECK_INTERVALS)
  .nullable()
  .describe('how often the URL is checked for changes; null for never')

/** The URL that a toolkit's tools are imported from, and how often it is checked for changes. */
export const PutToolkitSource = z
  .strictObject({
    url: z
      .url({ protocol: /^https?$/, error: 'must start with https:// or http://' })
      .max(MAX_URL_CHARS)
      .refine(url => !hasUserInfo(url), 'must not contain a user name or a password: sources are fetched without them')
      .nullable(),
    checkEvery,
  })
  .refine(source => source.url !== null || source.checkEvery === null, {
    path: ['url'],
    error: 'is needed to check for changes',
  })
export type PutToolkitSource = z.infer<typeof PutToolkitSource>

export const ToolkitSourceView = z.object({
  kind: z.enum(IMPORT_KINDS),
  title: orNull(z.string()).describe('title of the source when it was imported last'),
  url: orNull(z.string()),
  checkEvery: orNull(z.enum(CHECK_INTERVALS)),
  checkedAt: orNull(timeSchema),
  problem: orNull(z.string()).describe('why the last check failed'),
  found: orNull(FoundChanges).describe(
    'how many tools the newest version of the source would change, and how many of these changes may break calls',
  ),
})
