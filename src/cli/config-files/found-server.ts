import type { UpstreamFeatures } from '../../upstreams/upstream.ts'
import type { ConfigText } from './config-text.ts'

/** How a server is started or reached, with every text split at its variables. */
export type FoundPlace =
  | {
      transport: 'stdio'
      command: ConfigText
      args: readonly ConfigText[]
      env: Readonly<Record<string, ConfigText>>
      cwd: ConfigText | undefined
    }
  | { transport: 'http' | 'sse'; url: ConfigText; headers: Readonly<Record<string, ConfigText>> }

/** A server as it is in a configuration file. */
export type FoundServer = {
  /** The name in the file. */
  name: string
  isEnabled: boolean
  place: FoundPlace
  description: string | undefined
  allow: readonly string[] | undefined
  deny: readonly string[] | undefined
  timeoutMs: number | undefined
  /** Which kinds of features to pass on. All if left out. */
  features?: UpstreamFeatures | undefined
  /** What is not imported or imported differently, a sentence each. */
  notes: readonly string[]
}

/** A server that cannot be imported; `why` completes "It …". */
export type Unusable = { name: string; why: string }

export type FoundServers = {
  /** Whether it has a section for servers at all, even an empty one. */
  hasServers: boolean
  servers: readonly FoundServer[]
  unusable: readonly Unusable[]
  /** Remarks about the file as a whole. */
  notes: readonly string[]
}
