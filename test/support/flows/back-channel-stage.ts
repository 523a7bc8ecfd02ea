import type { AuthorizationServerOptions, FailureEvent } from '../../../lib/index'
import { openIdConnect, type OpenIdConnectOptions } from '../../../lib/paths/openid-connect'
import { bent } from './clients'
import { identityKeys, relyingParty, withIdentity } from './identity-stage'
import { type LogoutReceiver, logoutReceiver } from './logout-receiver'
import type { SetStage } from './stores-of-run'
import { withPlugins } from '../with-plug-ins'

/** The form of a logout page. */
export const formIn = (text: string) => ({
  action: /<form[^>]* action="([^"]+)"/.exec(text)?.[1] ?? '',
  logout_request: /name="logout_request" value="([^"]+)"/.exec(text)?.[1] ?? '',
})

/** Starts receivers of logout tokens, which end with each test. */
export function withReceivers(): typeof logoutReceiver {
  const receivers: LogoutReceiver[] = []
  afterEach(async () => {
    await Promise.all(receivers.splice(0).map((receiver) => receiver.close()))
  })
  return async (...given) => {
    const started = await logoutReceiver(...given)
    receivers.push(started)
    return started
  }
}

/** A server that tells clients of a logout. @param uris the `backchannel_logout_uri` of each client. */
export const backChannelStage =
  (stage: SetStage) =>
  (
    uris: Readonly<Record<string, string | undefined>>,
    identity: Partial<OpenIdConnectOptions> = {},
    options: Partial<AuthorizationServerOptions> = {},
  ) => {
    const keys = identityKeys()
    const plugin = openIdConnect({ keys, backChannelLogout: true, ...identity })
    const clients = Object.entries(uris).map(([client_id, backchannel_logout_uri]) =>
      bent(relyingParty, {
        client_id,
        ...(backchannel_logout_uri !== undefined && { backchannel_logout_uri }),
      }),
    )
    const set = stage({
      ...withIdentity(),
      clients: clients.map(({ registration }) => registration),
      logOut: () => {},
      ...options,
      plugins: withPlugins([keys, plugin], options.plugins),
    })
    const failures: FailureEvent[] = []
    set.oauth.events.on('failure', (failure) => failures.push(failure))
    const logIn = async (clientId: string, owner = 'alice', scope = 'openid') => {
      const client = clients.find(({ registration }) => registration.client_id === clientId)
      return set.flow.tokens(client ?? relyingParty, { scope }, owner)
    }
    /** The page of the logout, and its form, which the owner may send. */
    const logoutPage = async (owner = 'alice') => formIn((await set.flow.open('/logout', owner)).text)
    const logOut = async (owner = 'alice', decision = 'log_out') => {
      const { action, logout_request } = await logoutPage(owner)
      return set.flow.submit(action, { logout_request, decision }, owner)
    }
    return { ...set, plugin, failures, logIn, logoutPage, logOut, clients }
  }
