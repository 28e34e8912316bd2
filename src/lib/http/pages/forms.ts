import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { AppError } from '../../kernel/errors.ts'
import type { PageData } from './views.ts'

/** A field of a form; one that is missing, or there twice, is empty. */
export const formText = z.string().catch('')

/** What a form holds, of the fields named. Never fails: what is typed into them is judged afterwards. */
export const parseForm = <Shape extends z.ZodRawShape>(shape: Shape, body: unknown) => z.object(shape).parse(body ?? {})

export type FormPage = {
  view: string
  /** What the page shows, with the texts typed so far; never a password. */
  data: PageData
  /** What each field is called in a sentence, by its path in the errors: `e-mail address`. */
  labels: Readonly<Record<string, string>>
}

/** A sentence for each field that is named; what is wrong with the rest is told above the form. */
const describeRefusal = ({ errors = [], message }: AppError, labels: FormPage['labels']) => {
  const beside = errors.flatMap(error => {
    const label = labels[error.path]
    return label === undefined ? [] : [[error.path, `The ${label} ${error.message}.`] as const]
  })
  return { errors: Object.fromEntries(beside), problem: beside.length === 0 ? message : undefined }
}

/** Shows a form that nobody has sent yet. */
export const showForm = (reply: FastifyReply, { view, data }: FormPage): FastifyReply =>
  reply.page(view, { ...data, errors: {}, problem: undefined })

/**
 * Does what a form asks for. Where that is refused the form is shown again, with the error's status, a sentence beside
 * each field that is wrong (`it.errors`) or one above them (`it.problem`).
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
