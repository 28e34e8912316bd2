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

/** A place in which every string is split at its variables. */
export type FoundPlace = Place<ConfigText>

export const mapTexts = <From, To>(
  texts: Readonly<Record<string, From>>,
  convert: (text: From, name: string) => To,
): Record<string, To> => Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, convert(text, name)]))

/** Converts every string in a place. */
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

/** A server as defined in a configuration file. */
export type FoundServer = {
  /** The server's name in the file. */
  name: string
  isEnabled: boolean
  place: FoundPlace
  description: string | undefined
  allow: string[] | undefined
  deny: string[] | undefined
  timeoutMs: number | undefined
  /** The kinds of features to pass on. If undefined, all are passed on. */
  features?: UpstreamFeatures | undefined
  /** Notes on what is not imported or is imported differently, one sentence each. */
  notes: readonly string[]
}

/** A server that cannot be imported; `why` completes "It …". */
export type Unusable = { name: string; why: string }

export type FoundServers = {
  /** Whether the file has any section for servers, even an empty one. */
  hasServers: boolean
  servers: readonly FoundServer[]
  unusable: readonly Unusable[]
  /** Notes about the file as a whole. */
  notes: readonly string[]
}
