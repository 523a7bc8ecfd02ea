import type { Response } from 'supertest'
import type { AuthorizationServerOptions } from '../../../lib/index'
import { photoPrint } from './clients'
import { authorizationRequest, formOf, type Headers } from './flow'
import { setStage } from '../flows/stage'

/** An authorization request that demands a login. */
export const asked = { ...authorizationRequest(photoPrint), prompt: 'login' }

/** A session of an owner in headers, for {@link ownerOfHeaders}. @param how the class, then the methods of the login. */
export const session = (at: number, how = ''): Headers => ({
  'X-Logged-In-At': String(at),
  'X-Logged-In-How': how,
})

export const ownerOfHeaders: NonNullable<AuthorizationServerOptions['resourceOwner']> = (req) => {
  const subject = req.get('X-Owner')
  const at = req.get('X-Logged-In-At')
  const [acr, ...amr] = (req.get('X-Logged-In-How') ?? '').split(' ')
  return subject && { subject, ...(at && { authTime: Number(at) }), ...(acr && { acr, amr }) }
}

/** A host whose header names the owner, and the time of the login. */
export function loginStage(options: Parameters<typeof setStage>[0] = {}) {
  const set = setStage({
    resourceOwner: ownerOfHeaders,
    ...options,
  })
  const now = () => Math.floor(set.clock.read() / 1000)
  /** A request of an owner who logged in at this time. */
  const open = (path: string, owner?: string, at?: number) =>
    set.flow.open(path, owner, at === undefined ? {} : { 'X-Logged-In-At': String(at) })
  const ask = (fields: Record<string, string | undefined>, owner?: string, at?: number) =>
    open(`/authorize?${formOf(fields)}`, owner, at)
  return { ...set, now, open, ask }
}

/** The way back from the login to which a response leads, and what the login was asked for. */
export const loginOf = (response: Response) => {
  const { pathname, searchParams } = new URL(String(response.get('Location')), 'http://localhost')
  expect([response.status, pathname]).toEqual([303, '/login'])
  return { back: String(searchParams.get('return_to')), prompt: searchParams.get('prompt') }
}
