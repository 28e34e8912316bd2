import type { UpstreamFeatures } from '../upstreams/index.ts'
import type { ConfigText } from './config-text.ts'

/** Where a server of a configuration file is, every text taken apart at its variables. */
export type FoundPlace =
  | {
      transport: 'stdio'
      command: ConfigText
      args: readonly ConfigText[]
      env: Readonly<Record<string, ConfigText>>
      cwd: ConfigText | undefined
    }
  | { transport: 'http' | 'sse'; url: ConfigText; headers: Readonly<Record<string, ConfigText>> }

/** A server as a configuration file has it. */
export type FoundServer = {
  /** As the file calls it. */
  name: string
  isEnabled: boolean
  place: FoundPlace
  description: string | undefined
  allow: readonly string[] | undefined
  deny: readonly string[] | undefined
  timeoutMs: number | undefined
  /** Which kinds of things to pass on; left out: all. */
  features?: UpstreamFeatures | undefined
  /** What of it is not taken along, and what is different; a sentence each. */
  notes: readonly string[]
}

/** What a file names and cannot be taken; `why` completes "it". */
export type Unusable = { name: string; why: string }

export type FoundServers = {
  /** Whether it has a place for servers at all, be it empty. */
  hasServers: boolean
  servers: readonly FoundServer[]
  unusable: readonly Unusable[]
  /** Of the file as a whole. */
  notes: readonly string[]
}
