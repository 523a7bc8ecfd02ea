import { ClientVerification } from '../client-authentication/authenticate-client'
import { clientSecretBasic } from '../client-authentication/basic'
import { clientSecretPost, none } from '../client-authentication/built-in-methods'
import { SecretVerifier } from '../client-authentication/client-secret'
import { CredentialThrottle } from '../client-authentication/credential-throttle'
import type { AuthenticatingServer, ClientAuthenticationMethod } from '../client-authentication/method'
import type { CredentialTerms } from '../client-authentication/read-credential'
import type { ServerSettings } from '../config/settings'
import { takesPublicClients } from '../config/plug-ins'
import { urlBelow } from '../endpoints/server-metadata'
import type { Counters } from '../limits/counters'
import { steadyClock } from '../primitives/steady-clock'

export function authenticationOf(
  settings: ServerSettings,
  counters: Counters,
): { readonly credentialTerms: CredentialTerms; readonly verification: ClientVerification } {
  const { clock, findClient, clientAuthenticationMethods, clientAuthenticationLimits } = settings
  const secrets = new SecretVerifier(steadyClock(clock))
  const methods = [clientSecretBasic(secrets), clientSecretPost(secrets), ...clientAuthenticationMethods]
  const limits = new CredentialThrottle(clientAuthenticationLimits, counters)
  const plugIns = [...methods, ...settings.grantTypes, ...settings.extensions]
  const credentialParameters = plugIns.flatMap((plugIn) => plugIn.credentialParameters ?? [])
  return {
    credentialTerms: { methods, credentialParameters, takesPublicClients: takesPublicClients(settings) },
    verification: new ClientVerification(findClient, limits, authenticatingServer(settings, counters)),
  }
}

export function methodsIn({
  methods,
  takesPublicClients: withNone,
}: CredentialTerms): readonly ClientAuthenticationMethod[] {
  return withNone ? [...methods, none] : methods
}

function authenticatingServer(
  { issuer, tokenPath, clock, clientDocuments }: ServerSettings,
  counters: Counters,
): AuthenticatingServer {
  return {
    issuer,
    tokenEndpoint: urlBelow(issuer, tokenPath),
    counters,
    documents: clientDocuments,
    now: () => Math.floor(clock() / 1000),
  }
}
