import { AUTHENTICATION_SCHEME, isPlaceholder, looksSecret } from '../../tools/secret-looks.ts'
import { type ConfigPart, type ConfigText, plainText } from './config-text.ts'
import { type FoundPlace, mapTexts, type Place } from './found-server.ts'
import { namesSecret } from './secret-names.ts'

/** A secret written in the file. `name` is its name in the file. */
export type SecretPart = { kind: 'secret'; name: string; value: string }
export type HiddenText = readonly (ConfigPart | SecretPart)[]

const secret = (name: string, value: string): SecretPart => ({ kind: 'secret', name, value })

const SCHEME_ALONE = /^(?:Bearer|Basic|Token|ApiKey) +$/i

/** Returns a variable for a placeholder, so that the user is asked for its value. */
const askedFor = (name: string, written: string): ConfigPart => ({
  kind: 'variable',
  name,
  source: 'input',
  written,
  isSecret: true,
})

/** Marks variables that stand in place of a secret as secret, whatever their names. */
const asSecrets = (text: ConfigText): ConfigText =>
  text.map(part => (part.kind === 'variable' ? { ...part, isSecret: part.isSecret ?? true } : part))

const startsWithScheme = ([first]: ConfigText): boolean => first?.kind === 'text' && SCHEME_ALONE.test(first.text)

/**
 * Extracts the secrets from the value of an environment variable or header, based on the variable's or header's name.
 */
const hideNamed = (text: ConfigText, name: string): HiddenText => {
  const plain = plainText(text)
  if (plain === undefined) return namesSecret(name) || startsWithScheme(text) ? asSecrets(text) : text
  if (plain === '') return text
  const scheme = AUTHENTICATION_SCHEME.exec(plain)?.[0] ?? ''
  const rest = plain.slice(scheme.length)
  if (!namesSecret(name) && !looksSecret(rest) && scheme === '') return text
  const hidden = isPlaceholder(rest) ? askedFor(name, rest) : secret(name, rest)
  return scheme === '' ? [hidden] : [{ kind: 'text', text: scheme }, hidden]
}

const FLAG = /^--?([A-Za-z][A-Za-z0-9_-]*)$/
const FLAG_WITH_VALUE = /^(--?([A-Za-z][A-Za-z0-9_-]*)=)(.+)$/s
const HEADER_ARGUMENT = /^([A-Za-z][A-Za-z0-9-]*: ?)(.+)$/s

const hideArgument = (text: ConfigText, before: ConfigText | undefined): HiddenText => {
  const plain = plainText(text)
  const flag = FLAG.exec((before && plainText(before)) ?? '')?.[1]
  if (flag !== undefined && namesSecret(flag) && plain?.startsWith('-') !== true) return hideNamed(text, flag)
  if (plain === undefined) return text
  const [, front = '', name = '', value = ''] = FLAG_WITH_VALUE.exec(plain) ?? []
  if (value !== '' && (namesSecret(name) || looksSecret(value))) {
    return [{ kind: 'text', text: front }, ...hideNamed([{ kind: 'text', text: value }], name)]
  }
  // The format in which mcp-remote takes headers: `--header "Authorization: Bearer …"`.
  const [, label = '', content = ''] = HEADER_ARGUMENT.exec(plain) ?? []
  const header = label.replace(/: ?$/, '')
  if (content !== '' && namesSecret(header)) {
    return [{ kind: 'text', text: label }, ...hideNamed([{ kind: 'text', text: content }], header)]
  }
  return looksSecret(plain) ? [secret(flag ?? 'argument', plain)] : text
}

const PARAMETER = /([?&])([^=&#]+)=([^&#]+)/g

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

/**
 * Separates the secret parameters in a URL. Decodes their values, because they are encoded again when they are filled
 * in.
 */
const hideInUrl = (text: ConfigText): HiddenText => {
  const plain = plainText(text)
  if (plain === undefined) {
    return text.map((part, at) => {
      const before = text[at - 1]
      const name = before?.kind === 'text' ? /[?&]([^=&#]+)=$/.exec(before.text)?.[1] : undefined
      const isSecret = name !== undefined && namesSecret(decode(name))
      return part.kind === 'variable' && isSecret ? { ...part, isSecret: part.isSecret ?? true } : part
    })
  }
  const parts: (ConfigPart | SecretPart)[] = []
  let at = 0
  for (const match of plain.matchAll(PARAMETER)) {
    const [whole, mark = '', name = '', value = ''] = match
    if (!namesSecret(decode(name)) && !looksSecret(decode(value))) continue
    parts.push({ kind: 'text', text: `${plain.slice(at, match.index)}${mark}${name}=` })
    parts.push(isPlaceholder(decode(value)) ? askedFor(decode(name), value) : secret(decode(name), decode(value)))
    at = match.index + whole.length
  }
  if (at < plain.length) parts.push({ kind: 'text', text: plain.slice(at) })
  return parts
}

const CREDENTIALS = /^(https?:\/\/)([^/?#@]*)@/i

/** Moves the credentials in a URL to a header, because upstream URLs may not contain credentials. */
const takeCredentials = (url: ConfigText): { url: ConfigText; header: HiddenText | undefined } => {
  const plain = plainText(url)
  const [whole = '', scheme = '', userInfo] = CREDENTIALS.exec(plain ?? '') ?? []
  if (plain === undefined || userInfo === undefined) return { url, header: undefined }
  const encoded = Buffer.from(decode(userInfo)).toString('base64')
  return {
    url: [{ kind: 'text', text: `${scheme}${plain.slice(whole.length)}` }],
    header: [{ kind: 'text', text: 'Basic ' }, secret('Authorization', encoded)],
  }
}

/** Separates likely secrets from the rest, judging by their names and formats. */
export const hideSecrets = (place: FoundPlace): Place<HiddenText> => {
  if (place.transport === 'stdio') {
    const { args, env } = place
    return { ...place, args: args.map((arg, at) => hideArgument(arg, args[at - 1])), env: mapTexts(env, hideNamed) }
  }
  const { url, header } = takeCredentials(place.url)
  const credentials = header === undefined ? {} : { Authorization: header }
  return {
    transport: place.transport,
    url: hideInUrl(url),
    headers: { ...credentials, ...mapTexts(place.headers, hideNamed) },
  }
}
