import type { UpstreamFeatures } from '../../upstreams/upstream.ts'
import type { ConfigText } from './config-text.ts'

/** How a server is started or reached. */
export type Place<Text> =
  | {
      transport: 'stdio'
      command: Text
      args: Text[]
      env: Readonly<Record<string, Text>>
      cwd: Text | undefined
    }
  | { transport: 'http' | 'sse'; url: Text; headers: Readonly<Record<string, Text>> }

/** A place with every text split at its variables. */
export type FoundPlace = Place<ConfigText>

export const mapTexts = <From, To>(
  texts: Readonly<Record<string, From>>,
  convert: (text: From, name: string) => To,
): Record<string, To> => Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, convert(text, name)]))

/** Converts every text of a place. */
export const mapPlace = <From, To>(place: Place<From>, convert: (text: From) => To): Place<To> => {
  if (place.transport !== 'stdio') {
    return { ...place, url: convert(place.url), headers: mapTexts(place.headers, convert) }
  }
  const { command, args, env, cwd } = place
  return {
    ...place,
    command: convert(command),
    args: args.map(convert),
    env: mapTexts(env, convert),
    cwd: cwd === undefined ? undefined : convert(cwd),
  }
}

/** A server as it is in a configuration file. */
export type FoundServer = {
  /** The name in the file. */
  name: string
  isEnabled: boolean
  place: FoundPlace
  description: string | undefined
  allow: string[] | undefined
  deny: string[] | undefined
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
