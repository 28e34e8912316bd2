import type { FastifyReply } from 'fastify'

/** What the page with the three doors shows: a note, errors, and a typed URL without secrets. */
export type StartPage = {
  note?: string | undefined
  pasteError?: string
  urlError?: string
  url?: string
}

/** Shows the page with the three doors. */
export type ShowStart = (reply: FastifyReply, page: StartPage, status?: number) => FastifyReply
