import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { AppError } from '../../kernel/errors.ts'
import type { PageData } from './views.ts'

/** A text field of a form; empty if it is missing or repeated. */
export const formText = z.string().catch('')

/**
 * Returns the fields of a form that `shape` names. Never fails on `formText` fields; validate their values afterwards.
 */
export const parseForm = <Shape extends z.ZodRawShape>(shape: Shape, body: unknown) => z.object(shape).parse(body ?? {})

export type FormPage = {
  view: string
  /** Data for the page, including the values typed so far but never a password. */
  data: PageData
  /** The name of each field within a sentence, by its error path: `e-mail address`. */
  labels: Readonly<Record<string, string>>
}

/** Returns a sentence for each labelled field with an error. Without one, the message goes above the form. */
const describeRefusal = ({ errors = [], message }: AppError, labels: FormPage['labels']) => {
  const beside = errors.flatMap(error => {
    const label = labels[error.path]
    return label === undefined ? [] : [[error.path, `The ${label} ${error.message}.`] as const]
  })
  return { errors: Object.fromEntries(beside), problem: beside.length === 0 ? message : undefined }
}

/** Shows a form before its first submission. */
export const showForm = (reply: FastifyReply, { view, data }: FormPage): FastifyReply =>
  reply.page(view, { ...data, errors: {}, problem: undefined })

/**
 * Runs `work` for a submitted form. If it fails with an AppError, shows the form again with the error's status, and
 * with a sentence beside each invalid field (`it.errors`) or one above them (`it.problem`).
 */
export const submitForm = async (
  reply: FastifyReply,
  { view, data, labels }: FormPage,
  work: () => Promise<FastifyReply>,
): Promise<FastifyReply> => {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'internal') throw error
    if (error.retryAfterSeconds !== undefined) reply.header('retry-after', String(error.retryAfterSeconds))
    return reply.page(view, { ...data, ...describeRefusal(error, labels) }, { status: error.status })
  }
}
