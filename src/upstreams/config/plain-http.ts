import { isLoopback } from '../../lib/kernel/loopback.ts'
import type { RemoteConfig, UpstreamConfig } from '../upstream.ts'
import { keysOfConfig } from './resolve-config.ts'

/** Names of headers that probably contain a secret. */
const SECRET_HEADER = /auth|cookie|credential|key|password|secret|token/i

/** Returns the hosts of URLs that start with `http://`, except loopback hosts. */
const listPlainHosts = ({ url, urls = [] }: RemoteConfig): string[] =>
  [url, ...urls].flatMap(text => {
    const [, host] = /^http:\/\/([^/?#]*)/i.exec(text) ?? []
    const parsed = URL.parse(text)
    return host === undefined || (parsed !== null && isLoopback(parsed)) ? [] : host
  })

/** Returns warnings about credentials that are sent unencrypted. The configuration can still be used. */
export const listWarnings = (config: UpstreamConfig, isSecret: (key: string) => boolean): string[] => {
  if (config.transport === 'stdio') return []
  const [host] = listPlainHosts(config)
  const hasCredentials =
    config.auth.type === 'oauth' ||
    keysOfConfig(config).some(isSecret) ||
    Object.keys(config.headers).some(name => SECRET_HEADER.test(name))
  if (host === undefined || !hasCredentials) return []
  return [
    `Credentials for ${host} are sent over plain http, where anyone on the network path can read them. Enable https on the MCP server and use its https URL.`,
  ]
}
