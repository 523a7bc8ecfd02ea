import { TLSSocket } from 'node:tls'
import type { Request } from 'express'
import type { ClientCertificate, CredentialSources } from '../client-authentication/method'
import type { Parameters } from '../protocol/parameters'
import { headerLines } from './header-lines'
import { queryOf } from './query'

/** The `Authorization` headers of a request. */
export function authorizationOf(request: Request): readonly string[] {
  return headerLines(request, 'authorization')
}

/** All places of a token request in which credentials may stand. */
export function credentialSourcesOf(request: Request, form: Parameters): CredentialSources {
  return {
    authorization: authorizationOf(request),
    body: form,
    query: queryOf(request),
    certificate: certificateOf(request),
  }
}

function certificateOf({ socket }: Request): ClientCertificate | undefined {
  if (!(socket instanceof TLSSocket)) return undefined
  const x509 = socket.getPeerX509Certificate()
  return x509 && { x509, trusted: socket.authorized }
}
