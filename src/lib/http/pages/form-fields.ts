import { parse } from 'node:querystring'
import formbody from '@fastify/formbody'
import type { FastifyInstance } from 'fastify'
import { AppError } from '../../kernel/errors.ts'

/**
 * More fields than our largest form (the bindings matrix) has. The limit is needed because a parsed field takes far
 * more memory than its text.
 */
const MAX_FORM_FIELDS = 10_000

/** Placeholder for a form that was not parsed because it has too many fields. */
const TOO_MANY: Record<string, unknown> = Object.freeze({})

const hasTooMany = (text: string): boolean => {
  let at = -1
  for (let count = 0; count < MAX_FORM_FIELDS; count++) {
    at = text.indexOf('&', at + 1)
    if (at === -1) return false
  }
  return true
}

/**
 * Parses form bodies with a limited number of fields. Parses them before access is checked, so that a form is not lost
 * if the session has expired. Await after `checkAccess`.
 */
export const readForms = async (pages: FastifyInstance): Promise<void> => {
  // Must not throw: an exception would end the process.
  const parser = (text: string): Record<string, unknown> =>
    hasTooMany(text) ? TOO_MANY : parse(text, '&', '=', { maxKeys: 0 })
  await pages.register(formbody, { parser })
  pages.addHook('preValidation', async ({ body }) => {
    if (body !== TOO_MANY) return
    throw new AppError('payload_too_large', `The form has more than ${MAX_FORM_FIELDS} fields.`)
  })
}
