import { z } from 'zod'
import { formatNumber } from '../../lib/kernel/format.ts'
import type { Sealed, Sealing } from '../../lib/process/sealing.ts'
import type { ImportKind } from '../import.ts'
import { openUrl } from '../source-url.ts'

/** How often a source is checked for changes. */
export const CHECK_INTERVALS = ['day', 'week'] as const
export type CheckInterval = (typeof CHECK_INTERVALS)[number]

const count = z.int().min(0)

/**
 * The result of a check: how many tools the source would change, and how many of these changes may break calls. A tool
 * without its operation counts as both, until it is kept in a re-import.
 */
export const FoundChanges = z.object({ changed: count, breaking: count })
export type FoundChanges = z.infer<typeof FoundChanges>

/** `sha256` is that of the source that was read; the digest is the same for two sources that change tools in the same way. */
export const StoredFound = FoundChanges.extend({
  sha256: z.string(),
  digest: z.string(),
  /** Tools without their operations that somebody has kept in a re-import. They no longer count. */
  keptGone: z.array(z.string()).optional(),
})
export type StoredFound = z.infer<typeof StoredFound>

/** The source that the tools of a toolkit were imported from. */
export type ToolkitSource = {
  toolkitId: string
  kind: ImportKind
  /** Title of the source when it was imported last. */
  title: string | undefined
  /** With the values in its query hidden. Undefined if the tools were imported from a file or text. */
  url: string | undefined
  /** The whole URL. Undefined if nothing is hidden. */
  sealedUrl: Sealed | undefined
  /** How the API authenticates, if the description does not say it. */
  auth: string | undefined
  /** SHA-256 of the imported source, in hexadecimal. */
  sha256: string
  etag: string | undefined
  lastModified: string | undefined
  /** Undefined if it is checked only on request. */
  checkEvery: CheckInterval | undefined
  checkedAt: Date | undefined
  /** Why the last check failed, as a sentence. */
  problem: string | undefined
  /** The result of the last successful check. Undefined before the first one. */
  found: StoredFound | undefined
}

/** Returns the whole URL of a source, if it has one. Throws SealError if it cannot be decrypted. */
export const openSourceUrl = (
  sealing: Pick<Sealing, 'open'>,
  { toolkitId, url, sealedUrl }: Pick<ToolkitSource, 'toolkitId' | 'url' | 'sealedUrl'>,
): string | undefined => (url === undefined ? undefined : openUrl(sealing, toolkitId, { shown: url, sealedUrl }))

/** Returns the result of a check that found the imported source. */
export const foundNothing = (sha256: string, keptGone: readonly string[] = []): StoredFound => ({
  changed: 0,
  breaking: 0,
  sha256,
  digest: '',
  ...(keptGone.length > 0 && { keptGone: [...keptGone] }),
})

/** Returns what a check found, or undefined if no tool would change. */
export const shownFound = (found: StoredFound | undefined): FoundChanges | undefined =>
  found !== undefined && found.changed > 0 ? found : undefined

/** Returns what a check found in words: `3 changed, 1 breaking`. */
export const describeFound = ({ changed, breaking }: FoundChanges): string =>
  `${formatNumber(changed)} changed${breaking > 0 ? `, ${formatNumber(breaking)} breaking` : ''}`
