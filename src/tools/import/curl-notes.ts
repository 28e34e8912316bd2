import type { GivenOption } from './curl-options.ts'

const CLIENT_CERTIFICATE = 'Client certificates cannot be imported.'
const PROXY = 'Proxies cannot be imported. The request goes directly to the API.'
const OTHER_ADDRESS = 'The address to connect to cannot be imported. The host of the URL decides it.'
const CONDITION = 'Conditions on earlier downloads (-z, -C, --etag-compare) were left out.'

/** What cannot be imported, by option. Options that are not here, and not read, change nothing in the request. */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  digest: 'Digest authentication cannot be imported. The user and password were left out.',
  ntlm: 'NTLM authentication cannot be imported. The user and password were left out.',
  'ntlm-wb': 'NTLM authentication cannot be imported. The user and password were left out.',
  negotiate: 'Kerberos authentication cannot be imported. The user and password were left out.',
  anyauth: 'Basic authentication was assumed. curl would ask the API which kind it wants.',
  'aws-sigv4': 'AWS signatures cannot be imported. The keys were left out.',
  cert: CLIENT_CERTIFICATE,
  key: CLIENT_CERTIFICATE,
  pass: CLIENT_CERTIFICATE,
  proxy: PROXY,
  preproxy: PROXY,
  'proxy1.0': PROXY,
  'proxy-user': PROXY,
  'proxy-header': PROXY,
  socks4: PROXY,
  socks4a: PROXY,
  socks5: PROXY,
  'socks5-hostname': PROXY,
  resolve: OTHER_ADDRESS,
  'connect-to': OTHER_ADDRESS,
  'unix-socket': OTHER_ADDRESS,
  'abstract-unix-socket': OTHER_ADDRESS,
  netrc: 'Credentials in .netrc are not read.',
  'netrc-file': 'Credentials in .netrc are not read.',
  'netrc-optional': 'Credentials in .netrc are not read.',
  config: 'Options in a file are not read.',
  variable: 'Variables of curl, as in {{name}}, were kept as they are.',
  insecure: 'The certificate of the API will be checked, although the command has -k.',
  'time-cond': CONDITION,
  'continue-at': CONDITION,
  'etag-compare': CONDITION,
  'path-as-is': 'Dots in the path were kept (--path-as-is), but a tool cannot send them.',
}

/** Returns a sentence for each thing that the options ask for and that cannot be imported. */
export const unsupportedNotes = (options: readonly GivenOption[]): readonly string[] => [
  ...new Set(options.flatMap(({ name }) => UNSUPPORTED[name] ?? [])),
]
