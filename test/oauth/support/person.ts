import { answerConsent, readCallback } from './client.ts'
import { createVisitor, fieldsOf } from './visitor.ts'

/** Acts as a user whom a client sent to an address: signs in if asked, and answers the consent page. */
export const answerAt = async (
  url: URL,
  { email, password = 'correct horse battery staple' }: { email: string; password?: string },
  answer: 'yes' | 'no' = 'yes',
): Promise<URLSearchParams> => {
  const visitor = createVisitor(url.origin)
  const signIn = await visitor.get(url.href)
  const { action, fields } = fieldsOf(signIn, '/sign-in')
  const consent = await visitor.post(action, { ...fields, email, password })
  return readCallback(await answerConsent(visitor, consent, answer))
}
