import type { ParameterType, Serialization } from '../../templates/template.ts'

/** A name and a value. Texts contain variables as marks: see `variable-marks.ts`. */
export type Pair = { name: string; value: string }

export type RequestAuth =
  | { kind: 'none' }
  | { kind: 'basic'; user: string; password: string }
  | { kind: 'bearer'; token: string }

/** A part of a multipart body. A part with a `fileName` is an upload. */
export type MultipartPart = {
  name: string
  value: string
  fileName: string | undefined
  contentType: string | undefined
}

/** A body with its Content-Type, which is undefined if the request has none. */
export type RequestBody =
  | { kind: 'none' }
  | { kind: 'json'; text: string; contentType: string }
  /** `text` is sent; `pairs` are its names and values, decoded. */
  | { kind: 'form'; text: string; pairs: readonly Pair[]; contentType: string }
  /** The Content-Type has no boundary: whoever sends the body chooses one. */
  | { kind: 'multipart'; parts: readonly MultipartPart[]; contentType: string }
  | { kind: 'text'; text: string; contentType: string | undefined }

/**
 * A value that the text does not contain: a variable of the shell, the content of a file, or a placeholder in the URL.
 * `written` is how the text refers to it, such as `$TOKEN`, `@body.json` or `{id}`.
 */
export type RequestVariable = {
  name: string
  written: string
  from: 'shell' | 'file' | 'placeholder'
  /** How its placeholder is written if its name and its place do not decide that. */
  placeholder?: RequestPlaceholder
}

/** `name` is made unique. Without a `type`, the place decides: JSON takes any value, and the start of a URL a URL. */
export type RequestPlaceholder = {
  name: string
  type?: ParameterType | undefined
  isOptional?: boolean | undefined
  serialization?: Serialization | undefined
}

/** A request as read from a text of another program. */
export type ImportedRequest = {
  /** As written, because methods are case-sensitive (RFC 9110 §9.1). */
  method: string
  /** Absolute, without credentials and fragment. Starts with a variable if the text does. */
  url: string
  /** In order, without those in `auth`, `cookies` and the Content-Type of the body. */
  headers: readonly Pair[]
  auth: RequestAuth
  cookies: readonly Pair[]
  body: RequestBody
  /** The variables whose marks the texts contain. */
  variables: readonly RequestVariable[]
  /** What was left out or changed, as sentences for the user. They contain no values of the request. */
  notes: readonly string[]
}
