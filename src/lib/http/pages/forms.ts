import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { AppError } from '../../kernel/errors.ts'
import type { PageData } from './views.ts'

/** A text field of a form. Empty if the field is missing or repeated. */
export const formText = z.string().catch('')
/** A text area's value with LF line breaks. Browsers send CR LF. */
export const formLines = formText.transform(text => text.replaceAll('\r\n', '\n'))
/** A checkbox or switch, as a boolean that says whether it is on. */
export const formFlag = formText.transform(text => text === 'on')
/** The values of the checked checkboxes that have the same name. A single value arrives as a string. */
export const formValues = z.union([z.array(z.string()), z.string().transform(one => [one])]).catch([])

/**
 * Parses the form fields that are in `shape`. Never fails for `formText` fields, so validate their values afterwards.
 */
export const parseForm = <Shape extends z.ZodRawShape>(shape: Shape, body: unknown) => z.object(shape).parse(body ?? {})

export type FormPage = {
  view: string
  /** Data for the page, including the values entered so far but no passwords. */
  data: PageData
  /** Field names for use within a sentence, by error path. */
  labels?: Readonly<Record<string, string>>
}

/** Returns a sentence for each labelled field with an error; if there are none, the message as `problem`. */
const describeRefusal = ({ errors = [], message }: AppError, labels: FormPage['labels'] = {}) => {
  const beside = errors.flatMap(error => {
    const label = labels[error.path]
    return label === undefined ? [] : [[error.path, `The ${label} ${error.message}.`] as const]
  })
  return { errors: Object.fromEntries(beside), problem: beside.length === 0 ? message : undefined }
}

/** Shows a form that has not been submitted yet. */
export const showForm = (reply: FastifyReply, { view, data }: FormPage): FastifyReply =>
  reply.page(view, { ...data, errors: {}, problem: undefined })

/**
 * Runs `work` for a submitted form. `work` either sends a reply or returns a path to redirect to. If it fails with an
 * AppError, shows the form's page with the error's status, and with messages beside the invalid fields (`it.errors`) or
 * one message above the form (`it.problem`).
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

/** Who may use a form's page, and the path parameters. */
export type FormRoute = { config: FastifyContextConfig; schema?: { params: z.ZodType } }

export type Form<Shape extends z.ZodRawShape, Loaded> = FormRoute & {
  fields: Shape
  /** Loads data for `page` and `save`. Throws before the input is read if the user may not use the form. */
  load: (request: FastifyRequest) => Loaded | Promise<Loaded>
  /** Builds the page. `typed` and `error` are set if a submitted form was rejected. */
  page: (
    request: FastifyRequest,
    loaded: Loaded,
    typed?: Typed<Shape>,
    error?: AppError,
  ) => FormPage | Promise<FormPage>
  /** Saves the form. Returns a path to redirect to or the reply that it has already sent. */
  save: (
    request: FastifyRequest,
    loaded: Loaded,
    typed: Typed<Shape>,
    reply: FastifyReply,
  ) => Promise<string | FastifyReply>
}

/** Registers the POST route of a form whose page is shown at another address. */
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

/** Registers a page with a form that submits to the page's own address. */
export const formPage = <Shape extends z.ZodRawShape, Loaded>(
  app: FastifyInstance,
  path: string,
  form: Form<Shape, Loaded>,
): void => {
  const { fields: _fields, load, page, save: _save, ...route } = form
  app.get(path, route, async (request, reply) => showForm(reply, await page(request, await load(request))))
  postForm(app, path, form)
}
