import type { Express } from 'express'
import request from 'supertest'
import { callback, printer } from './registrations'

/** A sound authorization request of the photo printer. */
export const authorizationRequest = {
  response_type: 'code',
  client_id: printer.client_id,
  redirect_uri: callback,
  scope: 'photos.read',
  state: 'af0ifjsldkj',
}

/** The consent token in the form of a consent page. */
export function consentTokenIn(page: string): string {
  const consentToken = /name="authorization_request" value="([^"]+)"/.exec(page)?.[1]
  if (consentToken === undefined) throw new Error(`There is no consent form in this: ${page}`)
  return consentToken
}

/** Asks as the photo printer, and approves: the code. */
export async function approvedCode(
  app: Express,
  bend: Readonly<Record<string, string>> = {},
): Promise<string> {
  const page = await request(app)
    .get('/authorize')
    .query({ ...authorizationRequest, ...bend })
  const answer = await request(app)
    .post('/authorize')
    .type('form')
    .send({ authorization_request: consentTokenIn(page.text), decision: 'approve' })
  const code = new URL(String(answer.headers['location'])).searchParams.get('code')
  if (code === null) throw new Error('There is no code.')
  return code
}
