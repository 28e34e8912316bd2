import type { RemoteConfig, UpstreamConfig } from '../upstream.ts'
import { isLoopback } from './loopback.ts'
import { globalsIn } from './resolve-config.ts'

/** What is called so is likely a secret, written out by its builder. */
const SECRET_HEADER = /auth|cookie|credential|key|password|secret|token/i

/** The hosts that it is reached at in the clear, beyond this machine, as far as they are written out. */
const plainHostsOf = ({ url, urls = [] }: RemoteConfig): string[] =>
  [url, ...urls].flatMap(text => {
    const [, host] = /^http:\/\/([^/?#]*)/i.exec(text) ?? []
    const parsed = URL.parse(text)
    return host === undefined || (parsed !== null && isLoopback(parsed)) ? [] : host
  })

/** What a builder should know of where the secrets of an upstream go: nothing keeps it from being used. */
export const listWarnings = (config: UpstreamConfig, isSecret: (key: string) => boolean): string[] => {
  if (config.transport === 'stdio') return []
  const [host] = plainHostsOf(config)
  const isGuarded =
    config.auth.type === 'oauth' ||
    globalsIn(config).some(isSecret) ||
    Object.keys(config.headers).some(name => SECRET_HEADER.test(name))
  if (host === undefined || !isGuarded) return []
  return [
    `What tells ${host} who asks is sent there by plain http: whoever is in between can read it and use it. Have the MCP server take https, and attach it by that.`,
  ]
}
