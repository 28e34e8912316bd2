import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { actorOf } from '../../lib/http/access.ts'
import { type FormPage, formLines, parseForm, showForm, submitForm } from '../../lib/http/pages/forms.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { hasWrittenHost, type PastedFault, readPasted } from '../../tools/import/read-pasted.ts'
import { toToolName } from '../../tools/tool-names.ts'
import { userRoute } from '../frame/user-page.ts'
import type { FirstRun } from './first-run.ts'
import { createHeldSecrets, type HeldSecrets } from './held-secrets.ts'
import { definitionOfForm, formOfPasted, type PastedForm, parsePastedForm, secretsOfForm } from './pasted-form.ts'
import { toPastedPage } from './pasted-request.view.ts'
import { createRequestServer, type RequestServerParts } from './request-server.ts'
import type { ShowStart } from './show-start.ts'

export type PastedRequestPagesParts = RequestServerParts

const PATH = '/first-run/request'
const Paste = { paste: formLines }

const HOST_MISSING = 'The URL starts with a placeholder. Write the host out, as in https://api.example.com.'

/** Returns a sentence. The pasted text is not shown again, because it can contain secrets. */
const describeFault = ({ message, line, column }: PastedFault): string => {
  const sentence = `${message.charAt(0).toUpperCase()}${message.slice(1)}.`
  return line === undefined
    ? sentence
    : `This cURL command cannot be read: line ${line}, column ${column}: ${message}. Paste the whole command.`
}

/** Adds the values that were typed to those that are held, so that they need not be typed again after an error. */
const holdTyped = (held: HeldSecrets, userId: string, form: PastedForm): PastedForm => {
  const typed = [...form.secrets].filter(([, value]) => value !== '')
  const values = new Map([...held.find(userId, form.held), ...typed])
  if (typed.length === 0) return form
  if (held.find(userId, form.held).size === 0) return { ...form, held: held.hold(userId, values) }
  held.update(userId, form.held, values)
  return form
}

/** Registers the page that shows what was read from a pasted URL or cURL command, and creates the tool. */
export const addPastedRequestPages = (
  app: FastifyInstance,
  parts: PastedRequestPagesParts,
  firstRun: FirstRun,
  showStart: ShowStart,
): void => {
  const held = createHeldSecrets()

  const pageOf = (request: FastifyRequest, form: PastedForm): FormPage => ({
    view: 'start/pasted-request',
    ...toPastedPage(form, held.find(actorOf(request).userId, form.held)),
  })

  const review = (request: FastifyRequest, reply: FastifyReply, paste: string): FastifyReply => {
    const pasted = readPasted(paste)
    if (!pasted.ok) return showStart(reply, { pasteError: describeFault(pasted.error) }, 400)
    if (!hasWrittenHost(pasted.value.draft)) return showStart(reply, { pasteError: HOST_MISSING }, 400)
    const { form, values } = formOfPasted(pasted.value)
    const id = values.size === 0 ? '' : held.hold(actorOf(request).userId, values)
    return showForm(reply, pageOf(request, { ...form, held: id }))
  }

  const create = (request: FastifyRequest, reply: FastifyReply, typed: PastedForm): Promise<FastifyReply> => {
    const actor = actorOf(request)
    const form = holdTyped(held, actor.userId, { ...typed, name: toToolName(typed.name) })
    return submitForm(
      reply,
      () => pageOf(request, form),
      async () => {
        const definition = definitionOfForm(form)
        const secrets = secretsOfForm(form, held.find(actor.userId, form.held))
        await firstRun.open(actor, async organizationId => ({
          serverId: await createRequestServer(parts, actor, organizationId, { definition, secrets }),
          tool: definition.name,
        }))
        held.drop(form.held)
        return '/first-run'
      },
    )
  }

  app.get(PATH, userRoute, async (_request, reply) => reply.redirect('/first-run', 303))

  app.post(PATH, userRoute, async (request, reply) => {
    const state = await firstRun.getStep(actorOf(request))
    if (state.step !== 'start') return reply.redirect('/first-run', 303)
    const typed = parsePastedForm(request.body)
    if (typed !== undefined) return create(request, reply, typed)
    const { paste } = parseForm(Paste, request.body)
    if (paste.trim() === '') throw new AppError('invalid_request', 'Paste a URL or a cURL command.')
    return review(request, reply, paste)
  })
}
