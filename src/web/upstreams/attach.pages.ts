import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { actorOf } from '../../lib/http/access.ts'
import { type FormPage, formPage, formText } from '../../lib/http/pages/forms.ts'
import { type ServerFrame, type ServerFrameParts, serverTabPath, upstreamPath } from '../frame/server-frame.ts'
import { createServerTab, donePath, serverRoute } from '../frame/server-tab.ts'
import { type AttachFault, type AttachParts, attachUpstream, toAttachNotice } from './attach-upstream.ts'
import {
  LABELS,
  NEW_UPSTREAM,
  readUpstreamForm,
  rethrowBesideFields,
  type TypedUpstream,
  UpstreamForm,
} from './upstream-form.ts'
import { toFormData } from './upstream-page.view.ts'
import { toLog } from './upstream-sections.ts'

/** `anyway` is the button that attaches an MCP server although it cannot be reached. */
const AttachForm = { ...UpstreamForm, anyway: formText }

/** Fields that are shown even if the other settings are collapsed. */
const MAIN_FIELDS: ReadonlySet<string> = new Set(['name', 'url', 'command', 'args'])

/** Returns the field that is most likely to be wrong. */
const fieldOf = ({ kind }: AttachFault, { transport }: TypedUpstream): string => {
  if (transport === 'stdio') return 'command'
  return kind === 'unauthorized' ? 'auth' : 'url'
}

type Parts = AttachParts & { frames: ServerFrameParts; settings: { allowStdio: boolean } }

/** Registers the page for attaching an MCP server to a server. */
export const attachPages: FastifyPluginAsync<Parts> = async (app, { frames, settings, ...parts }) => {
  const tab = createServerTab(frames, 'sources')

  const attachPage = (request: FastifyRequest, server: ServerFrame, typed: TypedUpstream): FormPage => ({
    view: 'upstreams/new',
    data: {
      title: `Attach an MCP server to ${server.name}`,
      server,
      path: `${serverTabPath(server.id, 'sources')}/upstreams/new`,
      listHref: serverTabPath(server.id, 'sources'),
      isOpen: false,
      ...toFormData(typed, settings.allowStdio && actorOf(request).isOperator),
    },
    labels: LABELS,
  })

  formPage(app, '/servers/:uuid/sources/upstreams/new', {
    ...serverRoute,
    fields: AttachForm,
    load: tab.frameForChange,
    page: (request, server, typed, error) => {
      const { data, ...page } = attachPage(request, server, { ...NEW_UPSTREAM, ...typed })
      const isOpen = error?.errors?.some(({ path }) => !MAIN_FIELDS.has(path)) === true
      return { ...page, data: { ...data, isOpen } }
    },
    save: async (request, server, { anyway, ...typed }, reply) => {
      const work = async () => {
        const input = readUpstreamForm({ ...typed, enabled: 'on' })
        return attachUpstream(parts, actorOf(request), server, input, { isAnyway: anyway !== '' })
      }
      const attached = await work().catch(rethrowBesideFields)
      if (attached.ok) return donePath(upstreamPath(server.id, attached.value.id), 'attached')
      const fault = attached.error
      const field = fieldOf(fault, typed)
      const { view, data } = attachPage(request, server, typed)
      // Patchbay's own lines repeat the error.
      const hasOutput = fault.log.some(({ source }) => source !== 'patchbay')
      const log = hasOutput ? toLog(fault.log) : undefined
      const shown = {
        errors: { [field]: fault.message },
        problem: undefined,
        fault: { notice: toAttachNotice(fault), log },
      }
      return reply.page(view, { ...data, ...shown, isOpen: !MAIN_FIELDS.has(field) }, { status: 400 })
    },
  })
}
