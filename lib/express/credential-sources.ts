import { TLSSocket } from 'node:tls'
import type { Request } from 'express'
import type { ClientCertificate, CredentialSources } from '../client-authentication/method'
import { formOf } from './form-body'
import { headerLines } from './header-lines'
import { queryOf } from './query'

/** The `Authorization` headers of a request. */
export function authorizationOf(request: Request): readonly string[] {
  return headerLines(request, 'authorization')
}

/** All places of a token request in which credentials may stand. */
export async function credentialSourcesOf(
  request: Request,
  bodyDeadline: number,
): Promise<CredentialSources> {
  return {
    authorization: authorizationOf(request),
    body: await formOf(request, bodyDeadline),
    query: queryOf(request),
    certificate: certificateOf(request),
  }
}

function certificateOf({ socket }: Request): ClientCertificate | undefined {
  if (!(socket instanceof TLSSocket)) return undefined
  const x509 = socket.getPeerX509Certificate()
  return x509 && { x509, trusted: socket.authorized }
}
