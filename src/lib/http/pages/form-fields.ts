import { parse } from 'node:querystring'
import formbody from '@fastify/formbody'
import type { FastifyInstance } from 'fastify'
import { AppError } from '../../kernel/errors.ts'

/** More than the largest form of ours has, the matrix of bindings: what each becomes costs far more than its bytes. */
const MAX_FORM_FIELDS = 10_000

/** Stands for a form that was not looked into. */
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
 * Reads what forms send, of a bounded number of fields: it is read before anybody is known to be let in, so that what was
 * typed can be kept. To be awaited after `checkAccess`.
 */
export const readForms = async (pages: FastifyInstance): Promise<void> => {
  // It may not throw: what is thrown there ends the process.
  const parser = (text: string): Record<string, unknown> =>
    hasTooMany(text) ? TOO_MANY : parse(text, '&', '=', { maxKeys: 0 })
  await pages.register(formbody, { parser })
  pages.addHook('preValidation', async ({ body }) => {
    if (body !== TOO_MANY) return
    throw new AppError('payload_too_large', `The form has more than ${MAX_FORM_FIELDS} fields.`)
  })
}
