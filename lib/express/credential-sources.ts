import type { Request } from 'express'
import type { CredentialSources } from '../client-authentication/method'
import { formOf } from './form-body'
import { queryOf } from './query'

/** All places of a token request in which credentials may stand. */
export async function credentialSourcesOf(request: Request): Promise<CredentialSources> {
  // `headers` keeps the first of two Authorization headers and hides that there were two.
  const authorization = request.headersDistinct['authorization'] ?? []
  return { authorization, body: await formOf(request), query: queryOf(request) }
}
