import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { AppError } from '../../kernel/errors.ts'
import type { PageData } from './views.ts'

/** A text field of a form; empty if it is missing or repeated. */
export const formText = z.string().catch('')
/** A text area; browsers send its line breaks as CR LF. */
export const formLines = formText.transform(text => text.replaceAll('\r\n', '\n'))
/** A checkbox or switch: whether it is on. */
export const formFlag = formText.transform(text => text === 'on')
/** Checkboxes with the same name: the values of those that are checked. A single one arrives as a string. */
export const formValues = z.union([z.array(z.string()), z.string().transform(one => [one])]).catch([])

/**
 * Returns the fields of a form that `shape` names. Never fails on `formText` fields; validate their values afterwards.
 */
export const parseForm = <Shape extends z.ZodRawShape>(shape: Shape, body: unknown) => z.object(shape).parse(body ?? {})

export type FormPage = {
  view: string
  /** Data for the page, including the values typed so far but never a password. */
  data: PageData
  /** The name of each field within a sentence, by its error path: `email`. */
  labels?: Readonly<Record<string, string>>
}

/** Returns a sentence for each labelled field with an error. Without one, the message goes above the form. */
const describeRefusal = ({ errors = [], message }: AppError, labels: FormPage['labels'] = {}) => {
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
 * Runs `work` for a submitted form and redirects to the path that it returns, if it does not reply itself. If it fails
 * with an AppError, builds the form's page and shows it with the error's status, and with a sentence beside each invalid
 * field (`it.errors`) or one above them (`it.problem`).
 */
export const submitForm = async (
  reply: FastifyReply,
  pageFor: (error: AppError) => FormPage | Promise<FormPage>,
  work: () => Promise<string | FastifyReply>,
): Promise<FastifyReply> => {
  try {
    const done = await work()
    return typeof done === 'string' ? reply.redirect(done, 303) : done
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'internal') throw error
    const { view, data, labels } = await pageFor(error)
    if (error.retryAfterSeconds !== undefined) reply.header('retry-after', String(error.retryAfterSeconds))
    return reply.page(view, { ...describeRefusal(error, labels), ...data }, { status: error.status })
  }
}

type Typed<Shape extends z.ZodRawShape> = z.output<z.ZodObject<Shape>>

/** Who may use a form's page, and its parameters. */
export type FormRoute = { config: FastifyContextConfig; schema?: { params: z.ZodType } }

export type Form<Shape extends z.ZodRawShape, Loaded> = FormRoute & {
  fields: Shape
  /** Loads what `page` and `save` need. Throws for users who may not use the form, before their input is read. */
  load: (request: FastifyRequest) => Loaded | Promise<Loaded>
  /** Builds the page. `typed` and `error` are undefined until the form has been submitted and rejected. */
  page: (
    request: FastifyRequest,
    loaded: Loaded,
    typed?: Typed<Shape>,
    error?: AppError,
  ) => FormPage | Promise<FormPage>
  /** Saves the form. Returns the path to redirect to, or the reply if it has sent one. */
  save: (
    request: FastifyRequest,
    loaded: Loaded,
    typed: Typed<Shape>,
    reply: FastifyReply,
  ) => Promise<string | FastifyReply>
}

/** Registers the POST of a form whose page is shown at another address. */
export const postForm = <Shape extends z.ZodRawShape, Loaded>(
  app: FastifyInstance,
  path: string,
  { fields, load, page, save, ...route }: Form<Shape, Loaded>,
): void => {
  app.post(path, route, async (request, reply) => {
    const loaded = await load(request)
    const typed = parseForm(fields, request.body)
    return submitForm(
      reply,
      error => page(request, loaded, typed, error),
      () => save(request, loaded, typed, reply),
    )
  })
}

/** Registers a page with a form that is submitted to the page's own address. */
export const formPage = <Shape extends z.ZodRawShape, Loaded>(
  app: FastifyInstance,
  path: string,
  form: Form<Shape, Loaded>,
): void => {
  const { fields: _fields, load, page, save: _save, ...route } = form
  app.get(path, route, async (request, reply) => showForm(reply, await page(request, await load(request))))
  postForm(app, path, form)
}
