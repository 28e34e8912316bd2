import type { Settings } from './settings.ts'

const LOCAL_NAME = /^(localhost$|127\.|\[::1\]$)/

/** Returns a warning about the base URL and what to do about it, or undefined if the URL is fine. */
export const adviseOnBaseUrl = ({
  baseUrl,
  listensOnLoopback,
  host,
}: Pick<Settings, 'baseUrl' | 'listensOnLoopback' | 'host'>): string | undefined => {
  const { protocol, hostname } = new URL(baseUrl)
  const isLocalName = LOCAL_NAME.test(hostname)
  if (!listensOnLoopback && isLocalName) {
    return (
      `Patchbay listens on ${host}, but gives clients the address ${baseUrl}, which only this machine can reach: ` +
      'if others use it, set PATCHBAY_BASE_URL to the address that they use'
    )
  }
  if (protocol === 'http:' && !isLocalName) {
    return `${baseUrl} is not encrypted: put a proxy with TLS in front and set PATCHBAY_BASE_URL to https`
  }
  return undefined
}
