import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { IMPORT_KINDS, type ImportKind } from '../../imports/import.ts'
import type { GivenFile, ImportSource } from '../../imports/imports.service.ts'
import { formLines, formText, parseForm } from '../../lib/http/pages/forms.ts'
import { type FormFile, filesOf } from '../../lib/http/pages/multipart-form.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { readAuthChoice } from './auth-choice.ts'

const Fields = {
  text: formLines,
  kind: z.enum(IMPORT_KINDS).optional().catch(undefined),
  auth: formText,
  authHeader: formText,
}
export type SourceForm = { text: string; kind?: ImportKind | undefined; auth?: string; authHeader?: string }

/** The options of the kind; the first recognizes it. */
export const KIND_OPTIONS = [
  { value: '', text: 'Recognize automatically' },
  { value: 'openapi', text: 'OpenAPI or Swagger' },
  { value: 'postman', text: 'Postman collection' },
  { value: 'curl', text: 'cURL commands' },
  { value: 'har', text: 'HAR recording' },
] as const

export const parseSourceForm = (body: unknown): SourceForm => parseForm(Fields, body)

const refuse = (path: 'text' | 'files', message: string): AppError =>
  new AppError('invalid_request', message, { errors: [{ path, message: '' }] })

/** Returns the error of a field as a sentence, by the name of the field. */
export const fieldErrors = ({ message, errors = [] }: AppError): Readonly<Record<string, string>> => {
  const own = errors.find(({ path }) => path === 'text' || path === 'files' || path === 'url' || path === 'authHeader')
  if (own === undefined) return {}
  if (own.path === 'authHeader') return { authHeader: `The name of the header ${own.message}.` }
  if (own.message === '') return { [own.path]: `${message}.` }
  return own.path === 'url' ? { text: `The URL ${own.message}.` } : { [own.path]: `The source ${own.message}.` }
}

/** A URL of any scheme, so that one that cannot be fetched is refused as a URL. */
const URL_ONLY = /^[a-z][a-z0-9+.-]*:\/\/\S+$/i

const toGiven = ({ name, bytes }: FormFile): GivenFile => ({ name: name.replaceAll(/\p{Cc}/gu, ''), bytes })

/** Other files of a folder, such as pictures, are no documents. */
const isDocument = ({ name }: FormFile): boolean => /\.(?:json|ya?ml)$/i.test(name)

/**
 * Returns what the form imports: files, a URL, or a text. Postman environments come after the other files. Throws
 * `invalid_request` for the field `text` or `files`.
 */
export const toImportSource = (
  { text, kind, auth = '', authHeader = '' }: SourceForm,
  request: FastifyRequest,
): ImportSource => {
  const files = filesOf(request)
  const main = files.filter(file => file.field === 'files' || (file.field === 'folder' && isDocument(file)))
  const environments = files.filter(({ field }) => field === 'environment')
  const typed = text.trim()
  const given = readAuthChoice({ auth, header: authHeader })
  const common = { ...(kind !== undefined && { kind }), ...(given !== undefined && { auth: given }) }
  if (main.length > 0 && typed !== '') throw refuse('files', 'Choose files or fill in the field above, not both')
  if (main.length > 0) return { ...common, files: [...main, ...environments].map(toGiven) }
  if (typed === '') throw refuse('text', 'Paste a URL or a text, or choose a file')
  if (URL_ONLY.test(typed)) return { ...common, url: typed }
  if (environments.length === 0) return { ...common, text: typed }
  const pasted = { name: 'collection.json', bytes: Buffer.from(typed) }
  return { ...common, files: [pasted, ...environments.map(toGiven)] }
}
