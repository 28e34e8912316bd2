import type { Word } from './curl-words.ts'
import { UnreadableText } from './text-fault.ts'
import { hasVariables } from './variable-marks.ts'

/** An option as given. A flag has an empty value. `offset` is that of its word. */
export type GivenOption = { name: string; value: string; offset: number }

export type CurlArguments = {
  options: readonly GivenOption[]
  urls: readonly Word[]
  notes: readonly string[]
}

/** Options with a value, up to curl 8.16: those that change the request first. */
const WITH_VALUE: ReadonlySet<string> = new Set(
  `request header data data-ascii data-raw data-binary data-urlencode json form form-string user user-agent referer
  cookie url url-query upload-file oauth2-bearer request-target range
  abstract-unix-socket alt-svc aws-sigv4 cacert capath cert cert-type ciphers config connect-timeout connect-to
  continue-at cookie-jar create-file-mode crlfile curves delegation dns-interface dns-ipv4-addr dns-ipv6-addr
  dns-servers doh-url dump-header ech egd-file engine etag-compare etag-save expect100-timeout ftp-account
  ftp-alternative-to-user ftp-method ftp-port ftp-ssl-ccc-mode happy-eyeballs-timeout-ms haproxy-clientip hostpubmd5
  hostpubsha256 hsts interface ip-tos ipfs-gateway keepalive-cnt keepalive-time key key-type krb libcurl limit-rate
  local-port login-options mail-auth mail-from mail-rcpt max-filesize max-redirs max-time netrc-file noproxy output
  output-dir parallel-max parallel-max-host pass pinnedpubkey preproxy proto proto-default proto-redir proxy
  proxy-cacert proxy-capath proxy-cert proxy-cert-type proxy-ciphers proxy-crlfile proxy-header proxy-key
  proxy-key-type proxy-pass proxy-pinnedpubkey proxy-service-name proxy-tls13-ciphers proxy-tlsauthtype
  proxy-tlspassword proxy-tlsuser proxy-user proxy1.0 pubkey quote random-file rate resolve retry retry-delay
  retry-max-time sasl-authzid service-name sigalgs socks4 socks4a socks5 socks5-gssapi-service socks5-hostname
  speed-limit speed-time stderr telnet-option tftp-blksize time-cond tls-max tls13-ciphers tlsauthtype tlspassword
  tlsuser trace trace-ascii trace-config unix-socket upload-flags variable vlan-priority write-out`.split(/\s+/),
)

/** Options without a value. Each may also be given as `--no-…`. */
const FLAGS: ReadonlySet<string> = new Set(
  `get head
  anyauth append basic ca-native cert-status compressed compressed-ssh create-dirs crlf digest disable disable-eprt
  disable-epsv disallow-username-in-url doh-cert-status doh-insecure dump-ca-embed fail fail-early fail-with-body
  false-start follow form-escape ftp-create-dirs ftp-pasv ftp-pret ftp-skip-pasv-ip ftp-ssl-ccc ftp-ssl-control
  globoff haproxy-protocol help http0.9 http1.0 http1.1 http2 http2-prior-knowledge http3 http3-only
  ignore-content-length include insecure ipv4 ipv6 junk-session-cookies list-only location location-trusted
  mail-rcpt-allowfails manual metalink mptcp negotiate netrc netrc-optional next no-alpn no-buffer no-clobber
  no-keepalive no-npn no-progress-meter no-sessionid ntlm ntlm-wb out-null parallel parallel-immediate path-as-is
  post301 post302 post303 progress-bar proxy-anyauth proxy-basic proxy-ca-native proxy-digest proxy-http2
  proxy-insecure proxy-negotiate proxy-ntlm proxy-ssl-allow-beast proxy-ssl-auto-client-cert proxy-tlsv1 proxytunnel
  raw remote-header-name remote-name remote-name-all remote-time remove-on-error retry-all-errors retry-connrefused
  sasl-ir show-error show-headers silent skip-existing socks5-basic socks5-gssapi socks5-gssapi-nec ssl ssl-allow-beast
  ssl-auto-client-cert ssl-no-revoke ssl-reqd ssl-revoke-best-effort sslv2 sslv3 styled-output
  suppress-connect-headers tcp-fastopen tcp-nodelay tftp-no-options tls-earlydata tlsv1 tlsv1.0 tlsv1.1 tlsv1.2
  tlsv1.3 tr-encoding trace-ids trace-time use-ascii verbose version xattr`.split(/\s+/),
)

const SHORT: Readonly<Record<string, string>> = {
  '#': 'progress-bar',
  '0': 'http1.0',
  '1': 'tlsv1',
  '2': 'sslv2',
  '3': 'sslv3',
  '4': 'ipv4',
  '6': 'ipv6',
  ':': 'next',
  A: 'user-agent',
  B: 'use-ascii',
  C: 'continue-at',
  D: 'dump-header',
  E: 'cert',
  F: 'form',
  G: 'get',
  H: 'header',
  I: 'head',
  J: 'remote-header-name',
  K: 'config',
  L: 'location',
  M: 'manual',
  N: 'no-buffer',
  O: 'remote-name',
  P: 'ftp-port',
  Q: 'quote',
  R: 'remote-time',
  S: 'show-error',
  T: 'upload-file',
  U: 'proxy-user',
  V: 'version',
  X: 'request',
  Y: 'speed-limit',
  Z: 'parallel',
  a: 'append',
  b: 'cookie',
  c: 'cookie-jar',
  d: 'data',
  e: 'referer',
  f: 'fail',
  g: 'globoff',
  h: 'help',
  i: 'include',
  j: 'junk-session-cookies',
  k: 'insecure',
  l: 'list-only',
  m: 'max-time',
  n: 'netrc',
  o: 'output',
  p: 'proxytunnel',
  q: 'disable',
  r: 'range',
  s: 'silent',
  t: 'telnet-option',
  u: 'user',
  v: 'verbose',
  w: 'write-out',
  x: 'proxy',
  y: 'speed-time',
  z: 'time-cond',
}

/** Matches how options are called. Anything else could be a token, which must not be shown. */
const OPTION_NAME = /^-(?:.|-[a-z]{2,20}(?:-[a-z]{1,20}){0,3})$/

const unknown = (written: string): string => {
  if (hasVariables(written)) return 'An unknown option in a variable was left out.'
  if (!OPTION_NAME.test(written)) return 'An unknown option was left out.'
  return `The unknown option ${written} was left out.`
}

/** The arguments read so far, and the words that follow. */
const createArguments = (words: readonly Word[]) => {
  const options: GivenOption[] = []
  const urls: Word[] = []
  const notes: string[] = []
  const flags = new Set<string>()
  let at = 0
  return {
    options,
    urls,
    notes,
    next: (): Word | undefined => words[at++],
    has: (flag: string): boolean => flags.has(flag),
    /** A flag counts once, however often it is given. */
    addFlag: (name: string, offset: number): void => {
      if (!flags.has(name)) options.push({ name, value: '', offset })
      flags.add(name)
    },
    /** Adds an option with the value in its own word or, if that is undefined, in the next. */
    addOption: (name: string, written: string, value: string | undefined, offset: number): void => {
      const text = value ?? words[at++]?.text
      if (text === undefined) throw new UnreadableText(`${written} needs a value`, offset)
      options.push({ name, value: text, offset })
    },
  }
}
type Arguments = ReturnType<typeof createArguments>

const readLong = ({ text, offset }: Word, found: Arguments): void => {
  const equals = text.indexOf('=')
  const written = equals === -1 ? text : text.slice(0, equals)
  const name = written.slice(2).replace(/^expand-/, '')
  if (written.startsWith('--expand-')) found.notes.push('Variables of curl, as in {{name}}, were kept as they are.')
  if (WITH_VALUE.has(name)) {
    // curl itself does not accept --option=value, but people write it.
    found.addOption(name, written, equals === -1 ? undefined : text.slice(equals + 1), offset)
  } else if (FLAGS.has(name)) found.addFlag(name, offset)
  else if (!FLAGS.has(name.replace(/^no-/, ''))) found.notes.push(unknown(written))
}

/** Reads short options, of which several may share a word: `-sSLX POST`. */
const readShort = ({ text, offset }: Word, found: Arguments): void => {
  for (let index = 1; index < text.length; index++) {
    const letter = text.charAt(index)
    const name = SHORT[letter]
    if (name === undefined) {
      found.notes.push(unknown(`-${letter}`))
      return
    }
    if (WITH_VALUE.has(name)) {
      found.addOption(name, `-${letter}`, text.slice(index + 1) || undefined, offset)
      return
    }
    found.addFlag(name, offset)
  }
}

/**
 * Reads the words after `curl` as curl does. Stops at `--next`, which starts another request. Throws `UnreadableText`
 * if the last option has no value.
 */
export const readArguments = (words: readonly Word[]): CurlArguments => {
  const found = createArguments(words)
  let areOptionsOver = false
  for (let word = found.next(); word !== undefined; word = found.next()) {
    const { text } = word
    if (areOptionsOver || !text.startsWith('-') || text === '-') found.urls.push(word)
    else if (text === '--') areOptionsOver = true
    else if (text.startsWith('--')) readLong(word, found)
    else readShort(word, found)
    if (found.has('next')) {
      found.notes.push('Only the request before --next was read.')
      break
    }
  }
  return found
}
