import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { defaultContentType, describeBody, readData, readMultipart, urlEncodePair } from './curl-body.ts'
import { baseName, type FileReader } from './curl-form.ts'
import {
  contentTypeOf,
  type GivenHeaders,
  parseAuthorization,
  parseCookies,
  parseUser,
  readHeaders,
  takeHeaders,
} from './curl-headers.ts'
import { unsupportedNotes } from './curl-notes.ts'
import { type CurlArguments, type GivenOption, readArguments } from './curl-options.ts'
import { type CurlUrl, readCurlUrl } from './curl-url.ts'
import { type CurlWords, MAX_COMMAND_CHARS, NO_CURL, REST_LEFT_OUT, splitCurl } from './curl-words.ts'
import type { ImportedRequest, Pair, RequestAuth, RequestBody } from './imported-request.ts'
import type { Meter } from './text-cursor.ts'
import { type TextFault, toTextFault, UnreadableText } from './text-fault.ts'
import { fillMarks, toSnakeCase } from './variable-marks.ts'

/** What the steps of reading a command share. */
type Reading = {
  options: readonly GivenOption[]
  note: (sentence: string) => void
  readFile: FileReader
}

const has = ({ options }: Reading, ...names: readonly string[]): boolean =>
  options.some(({ name }) => names.includes(name))

/** Returns the last option of a name, which is the one that counts. */
const lastOf = ({ options }: Reading, name: string): GivenOption | undefined =>
  options.findLast(option => option.name === name)

const createFileReader =
  ({ stdin, variables }: CurlWords, note: (sentence: string) => void): FileReader =>
  (path, { offset, suggestedName }) => {
    if (path === '-' && stdin !== undefined) return stdin
    note('Files are not read. Their contents become parameters.')
    const written = `@${fillMarks(path, name => `$${name}`)}`
    return variables.add({ name: toSnakeCase(suggestedName, 'file'), written, from: 'file' }, offset)
  }

type Sent = { data: string | undefined; isQuery: boolean; isForm: boolean; upload: GivenOption | undefined }

/** Tells what is sent and how. Throws if the command asks for several kinds of bodies, as curl does. */
const readSent = (reading: Reading): Sent => {
  const data = readData(reading.options, reading.readFile)
  const isQuery = has(reading, 'get')
  const isForm = has(reading, 'form', 'form-string')
  const upload = lastOf(reading, 'upload-file')
  const kinds = [data !== undefined && !isQuery, isForm, upload !== undefined, has(reading, 'head')]
  if (kinds.filter(Boolean).length > 1) {
    const offset = reading.options.find(({ name }) => /^(?:form|head|upload-file)/.test(name))?.offset ?? 0
    throw new UnreadableText(
      'a request has either data (-d), a form (-F), an upload (-T) or only a head (-I). Keep one of them',
      offset,
    )
  }
  return { data, isQuery, isForm, upload }
}

const methodOf = (reading: Reading, { data, isQuery, isForm, upload }: Sent): string => {
  const given = lastOf(reading, 'request')
  if (given !== undefined && given.value !== '') return given.value
  if (has(reading, 'head')) return 'HEAD'
  if (upload !== undefined) return 'PUT'
  return isForm || (data !== undefined && !isQuery) ? 'POST' : 'GET'
}

const readBody = (reading: Reading, given: GivenHeaders, sent: Sent): RequestBody => {
  const { options, note, readFile } = reading
  const contentType = contentTypeOf(given)
  if (sent.isForm) return readMultipart(options, contentType, readFile, note)
  const { value: type } = typeof contentType === 'object' ? contentType : { value: undefined }
  if (sent.upload !== undefined) {
    const path = sent.upload.value === '.' ? '-' : sent.upload.value
    return describeBody(readFile(path, { offset: sent.upload.offset, suggestedName: 'body' }), type, note)
  }
  if (sent.data === undefined || sent.isQuery) return { kind: 'none' }
  return describeBody(sent.data, contentType === 'default' ? defaultContentType(options) : type, note)
}

const readUrl = (reading: Reading, { urls }: CurlArguments, words: CurlWords, sent: Sent): CurlUrl => {
  const { options, readFile, note } = reading
  const given = [
    ...options.filter(({ name }) => name === 'url').map(({ value, offset }) => ({ text: value, offset })),
    ...urls,
  ]
  const [first, ...others] = given.toSorted((one, other) => one.offset - other.offset)
  if (first === undefined) throw new UnreadableText('the command has no URL', words.offset)
  if (others.length > 0) note('The command has several URLs. Only the first was read.')
  const query = options
    .filter(({ name }) => name === 'url-query')
    .map(option => (option.value.startsWith('+') ? option.value.slice(1) : urlEncodePair(option, readFile)))
  const file = sent.upload === undefined ? undefined : baseName(sent.upload.value)
  return readCurlUrl(first, {
    query: [...(sent.isQuery ? [sent.data ?? ''] : []), ...query].filter(text => text !== ''),
    requestTarget: lastOf(reading, 'request-target')?.value,
    isGlobOff: has(reading, 'globoff'),
    isPathAsIs: has(reading, 'path-as-is'),
    uploadName: file === '-' || file === '.' ? undefined : file,
  })
}

const SCHEMES_OF_OTHERS = ['digest', 'ntlm', 'ntlm-wb', 'negotiate', 'aws-sigv4'] as const

/** Returns the credentials of the options and the URL, which an Authorization header overrides. */
const readOptionAuth = (reading: Reading, { credentials }: CurlUrl): RequestAuth => {
  const token = lastOf(reading, 'oauth2-bearer')
  if (token !== undefined) return { kind: 'bearer', token: token.value }
  if (has(reading, ...SCHEMES_OF_OTHERS) && !has(reading, 'basic')) return { kind: 'none' }
  const user = lastOf(reading, 'user')
  if (user === undefined) return credentials === undefined ? { kind: 'none' } : { kind: 'basic', ...credentials }
  if (!user.value.includes(':')) reading.note('The command has no password. curl would ask for it.')
  return { kind: 'basic', ...parseUser(user.value) }
}

const readAuth = (reading: Reading, given: GivenHeaders, url: CurlUrl) => {
  const { rest, values } = takeHeaders(given.headers, 'authorization')
  const [value] = values
  const parsed = value === undefined || values.length > 1 ? undefined : parseAuthorization(value)
  if (parsed !== undefined) return { auth: parsed, headers: rest }
  const isDecided = given.names.has('authorization')
  return { auth: isDecided ? ({ kind: 'none' } as const) : readOptionAuth(reading, url), headers: given.headers }
}

const readCookies = (reading: Reading, given: GivenHeaders, headers: readonly Pair[]) => {
  const { rest, values } = takeHeaders(headers, 'cookie')
  const options = reading.options.filter(({ name, value }) => name === 'cookie' && value !== '')
  const texts = options.map(({ value }) => value).filter(value => !value.startsWith('@') && value.includes('='))
  if (texts.length < options.length) reading.note('Cookies in a file are not read and were left out.')
  const given_ = given.names.has('cookie') ? values : texts.length === 0 ? [] : [texts.join(';')]
  const cookies = given_.length === 1 ? parseCookies(given_[0] ?? '') : undefined
  if (cookies !== undefined) return { cookies, headers: rest }
  return { cookies: [], headers: [...rest, ...given_.map(value => ({ name: 'Cookie', value }))] }
}

/** Headers that curl derives from options, if the command does not set them itself. */
const headersOfOptions = (reading: Reading, { names }: GivenHeaders, body: RequestBody): readonly Pair[] => {
  const range = lastOf(reading, 'range')?.value
  const isJson = has(reading, 'json')
  if (range !== undefined && body.kind !== 'none') reading.note('The range (-r) was left out, because there is a body.')
  const derived: readonly Pair[] = [
    { name: 'User-Agent', value: lastOf(reading, 'user-agent')?.value ?? '' },
    { name: 'Referer', value: (lastOf(reading, 'referer')?.value ?? '').replace(/;auto$/, '') },
    { name: 'Range', value: range === undefined || body.kind !== 'none' ? '' : `bytes=${range}` },
    { name: 'Accept', value: isJson ? 'application/json' : '' },
    { name: 'Content-Type', value: isJson && body.kind === 'none' ? 'application/json' : '' },
  ]
  return derived.filter(({ name, value }) => value !== '' && !names.has(name.toLowerCase()))
}

/** Maximum number of notes. More would not be read. */
const MAX_NOTES = 30

const read = (source: string, meter?: Meter): ImportedRequest & { end: number } => {
  const words = splitCurl(source, meter)
  const given = readArguments(words.words)
  const notes = new Set([...words.notes, ...given.notes])
  const note = (sentence: string): void => void notes.add(sentence)
  const reading: Reading = { options: given.options, note, readFile: createFileReader(words, note) }

  const sent = readSent(reading)
  const url = readUrl(reading, given, words, sent)
  const headers = readHeaders(given.options, note)
  const withAuth = readAuth(reading, headers, url)
  const withCookies = readCookies(reading, headers, withAuth.headers)
  const body = readBody(reading, headers, sent)
  const others = body.kind === 'none' ? withCookies.headers : takeHeaders(withCookies.headers, 'content-type').rest
  for (const sentence of [...url.notes, ...unsupportedNotes(given.options)]) notes.add(sentence)
  return {
    method: methodOf(reading, sent),
    url: url.url,
    headers: [...others, ...headersOfOptions(reading, headers, body)],
    auth: withAuth.auth,
    cookies: withCookies.cookies,
    body,
    variables: words.variables.all(),
    notes: [...notes].slice(0, MAX_NOTES),
    end: words.end,
  }
}

/**
 * Reads the first curl command of a pasted text as the request that curl would send. Runs nothing, expands nothing and
 * reads no files.
 *
 * Differs from curl where that helps: a URL without a scheme is https unless its host is this machine, and a URL with
 * braces or brackets is one URL. The headers that curl adds itself (`User-Agent: curl/…`, `Accept: *\/*`) are not part
 * of the request. `meter` counts the characters that are examined.
 */
export const readCurl = (source: string, meter?: Meter): Result<ImportedRequest, TextFault> => {
  try {
    const { end: _end, ...request } = read(source, meter)
    return success(request)
  } catch (error) {
    if (error instanceof UnreadableText) return failure(toTextFault(source, error))
    throw error
  }
}

/** A command of a text, with the line that it starts on, counted from 1. */
export type CurlCommand = { line: number; request: Result<ImportedRequest, { message: string }> }

/** What separates commands. */
const SEPARATORS = /[\s;&|]*/y
/** The start of a line with a command, for continuing after one that cannot be read. */
const NEXT_COMMAND = /\n[ \t]*(?:[$>%][ \t]+)?curl(?:\.exe)?[ \t]/g

/** Returns the offset of the first command after an offset; that of the end if there is none. */
const nextCommand = (source: string, offset: number): number => {
  NEXT_COMMAND.lastIndex = offset
  return (NEXT_COMMAND.exec(source)?.index ?? source.length - 1) + 1
}

/** Reads all curl commands of a text, up to a number. Continues after one that cannot be read with the next line that starts with curl. */
export const readCurls = (source: string, maxCommands: number): readonly CurlCommand[] => {
  const commands: CurlCommand[] = []
  let line = 1
  let counted = 0
  const lineAt = (offset: number): number => {
    line += source.slice(counted, offset).split('\n').length - 1
    counted = offset
    return line
  }
  for (let at = 0; commands.length < maxCommands; ) {
    SEPARATORS.lastIndex = at
    at += SEPARATORS.exec(source)?.[0].length ?? 0
    const text = source.slice(at, at + MAX_COMMAND_CHARS)
    if (text === '') break
    try {
      const { end, ...request } = read(text)
      const notes = request.notes.filter(note => note !== REST_LEFT_OUT)
      commands.push({ line: lineAt(at), request: success({ ...request, notes }) })
      at += end
    } catch (error) {
      if (!(error instanceof UnreadableText)) throw error
      if (error.message !== NO_CURL) commands.push({ line: lineAt(at), request: failure({ message: error.message }) })
      at = nextCommand(source, at + error.offset)
    }
  }
  return commands
}
