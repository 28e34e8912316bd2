import type { GivenOption } from './curl-options.ts'
import type { MultipartPart } from './imported-request.ts'
import { UnreadableText } from './text-fault.ts'

/** A value of `-F` with its parameters: `content;type=…;filename=…`. */
type FormValue = { content: string; type: string | undefined; fileName: string | undefined; isComplete: boolean }

const QUOTED = /"[^"\\]*(?:\\.[^"\\]*)*"/sy

/** Reads a word up to `;` or, in a list of files, a comma. A quoted word may contain both. */
const takeWord = (text: string, start: number, isList: boolean): { word: string; end: number } => {
  const stop = isList ? /[;,]/g : /;/g
  QUOTED.lastIndex = start
  const quoted = QUOTED.exec(text)?.[0]
  stop.lastIndex = start + (quoted?.length ?? 0)
  const end = stop.exec(text)?.index ?? text.length
  if (quoted === undefined) return { word: text.slice(start, end).trimEnd(), end }
  return { word: quoted.slice(1, -1).replaceAll(/\\([\\"])/g, '$1'), end }
}

const skipBlanks = (text: string, start: number): number => {
  let at = start
  while (/\s/.test(text.charAt(at))) at++
  return at
}

/** Reads content and parameters, up to the end or the comma of a list. Parameters that curl does not know are skipped. */
const readFormValue = (text: string, start: number, isList: boolean): FormValue & { end: number } => {
  let { word: content, end } = takeWord(text, skipBlanks(text, start), isList)
  let type: { start: number; end: number } | undefined
  let fileName: string | undefined
  let isComplete = true
  let isInType = false
  while (text[end] === ';') {
    const at = skipBlanks(text, end + 1)
    const key = /(?:type|filename|headers|encoder)=/y
    key.lastIndex = at
    const name = key.exec(text)?.[0] ?? ''
    const valueStart = skipBlanks(text, at + name.length)
    const value = takeWord(text, valueStart, isList)
    end = value.end
    // An unknown parameter after a type, such as `charset=utf-8`, belongs to the type.
    isInType = name === 'type=' || (name === '' && isInType)
    if (isInType) type = { start: name === '' ? (type?.start ?? at) : valueStart, end }
    else if (name === 'filename=') fileName = value.word
    else if (name !== '') isComplete = false
  }
  return { content, type: type && text.slice(type.start, type.end).trimEnd(), fileName, isComplete, end }
}

/** Content types that curl derives from the end of a file's name. */
const TYPES: Readonly<Record<string, string>> = {
  gif: 'image/gif',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  png: 'image/png',
  svg: 'image/svg+xml',
  txt: 'text/plain',
  htm: 'text/html',
  html: 'text/html',
  pdf: 'application/pdf',
  xml: 'application/xml',
}

const typeOfFile = (name: string): string | undefined =>
  TYPES[/\.([A-Za-z]{1,5})$/.exec(name)?.[1]?.toLowerCase() ?? '']

export const baseName = (path: string): string =>
  path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)

export type FileReader = (path: string, option: { offset: number; suggestedName: string }) => string

type FieldNotes = (sentence: string) => void

const INCOMPLETE = 'Headers and encodings of parts of a form cannot be imported and were left out.'

const readFiles = (
  name: string,
  text: string,
  { offset }: GivenOption,
  readFile: FileReader,
  note: FieldNotes,
): readonly MultipartPart[] => {
  const parts: MultipartPart[] = []
  for (let at = 1; ; ) {
    const { content: path, type, fileName, isComplete, end } = readFormValue(text, at, true)
    if (!isComplete) note(INCOMPLETE)
    const shown = fileName ?? (path === '-' ? '-' : baseName(path))
    parts.push({
      name,
      value: readFile(path, { offset, suggestedName: name }),
      fileName: shown,
      contentType: type ?? typeOfFile(shown) ?? typeOfFile(path) ?? 'application/octet-stream',
    })
    if (text[end] !== ',') break
    at = end + 1
  }
  if (parts.length > 1)
    note('Several files of one field are sent as fields of the same name, where curl would nest them.')
  return parts
}

/** Reads one `-F` or `--form-string`. Throws `UnreadableText` if it has no name. */
export const readFormField = (
  option: GivenOption,
  readFile: FileReader,
  note: FieldNotes,
): readonly MultipartPart[] => {
  const equals = option.value.indexOf('=')
  if (equals === -1) throw new UnreadableText('a form field has no =. Write it as name=value', option.offset)
  const name = option.value.slice(0, equals)
  const text = option.value.slice(equals + 1)
  if (option.name === 'form-string') return [{ name, value: text, fileName: undefined, contentType: undefined }]
  if (text.startsWith('(') || text.startsWith(')')) {
    note('Nested parts of a form cannot be imported and were left out.')
    return []
  }
  if (text.startsWith('@')) return readFiles(name, text, option, readFile, note)
  const isFile = text.startsWith('<')
  const { content, type, fileName, isComplete } = readFormValue(text, isFile ? 1 : 0, false)
  if (!isComplete) note(INCOMPLETE)
  const value = isFile ? readFile(content, { offset: option.offset, suggestedName: name }) : content
  return [{ name, value, fileName, contentType: type }]
}
