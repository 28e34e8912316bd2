import { createHash } from 'node:crypto'
import type { BodyContext, WrittenBody } from './body-context.ts'
import { writeMembers } from './form-members.ts'
import { UnusableOperation } from './imported-operation.ts'
import { serializationOf } from './styles.ts'

const LINE = '\r\n'

/** The same for each import of an operation, so that its tool does not change, but not in any text by chance. */
const boundaryOf = (key: string): string =>
  `patchbay-${createHash('sha256').update(key).digest('base64url').replaceAll(/[-_]/g, '').slice(0, 20)}`

/** Names in a part as browsers write them (WHATWG HTML, "multipart form data"). */
const quoteName = (name: string): string =>
  name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22').replaceAll('{{', '\\{{')

/** Writes a multipart form (RFC 7578). A part of an optional parameter is left out if there is no value. */
export const writeMultipart = (context: BodyContext): WrittenBody => {
  const boundary = boundaryOf(context.key)
  const members = writeMembers(context)
  if (members.length === 0) throw new UnusableOperation('Its body is a multipart form without described fields.')
  const parts = members.map(({ name, text, kind, style, contentType }) => {
    if (serializationOf(style, kind) === 'spread' || serializationOf(style, kind) === 'brackets') {
      throw new UnusableOperation(
        `Its body has an object in the style ${style.style}, which a multipart form cannot contain.`,
      )
    }
    return [
      `--${boundary}`,
      `Content-Disposition: form-data; name="${quoteName(name)}"`,
      ...(contentType === undefined || /[*,]/.test(contentType) ? [] : [`Content-Type: ${contentType}`]),
      '',
      text,
    ].join(LINE)
  })
  return {
    body: [...parts, `--${boundary}--`, ''].join(LINE),
    contentType: `multipart/form-data; boundary=${boundary}`,
  }
}
