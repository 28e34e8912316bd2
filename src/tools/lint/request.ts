import type { RequestTemplate } from '../../templates/template.ts'
import { listUnencodedFields, type UnencodedField } from '../../templates/unencoded-fields.ts'
import type { Finding } from './finding.ts'

const MESSAGES: Readonly<Record<UnencodedField, Pick<Finding, 'field' | 'message'>>> = {
  xml: {
    field: 'body',
    message: 'It was saved before values were escaped in XML, so a value can change the XML around it.',
  },
  multipart: {
    field: 'body',
    message: 'It was saved before values were checked in multipart bodies, so a value can add parts and headers.',
  },
  cookies: {
    field: 'headers',
    message: 'It was saved before values were encoded in the Cookie header, so a value can add cookies.',
  },
}

/** Lints the request of a saved tool. `isCopy`: the tool is in a snapshot, where nobody can save it. */
export const lintRequest = (template: RequestTemplate, isCopy: boolean): Finding[] =>
  listUnencodedFields(template).map(field => ({
    rule: 'unencoded-values',
    level: 'warning',
    ...MESSAGES[field],
    remedy: isCopy ? 'Accept the update of its toolkit once the toolkit’s owner has saved it again.' : 'Save it again.',
    clients: [],
  }))
