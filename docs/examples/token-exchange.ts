import { invalidTarget } from 'express-authorization-server'
import { tokenExchange } from 'express-authorization-server/grants'

/** The services behind the first one, and what each is called for. */
const services = new Map([['https://print.example', ['photos:print']]])

/** The photo API calls a service in the name of its caller's owner. */
export const photosExchange = tokenExchange({
  policy({ client, subject, actor, resource, audience }) {
    // A public client could be anybody; a client that acts for itself has no owner to pass on.
    if (client.client_type === 'public' || subject.subject === undefined) return undefined
    // The actor token is the client's own, for itself.
    if (actor?.clientId !== client.client_id || actor.subject !== undefined) return undefined
    const [service, ...more] = [...resource, ...audience]
    const scope = service === undefined || more.length > 0 ? undefined : services.get(service)
    if (service === undefined || scope === undefined)
      throw invalidTarget('service_unknown', 'A token is for one service of ours.')
    // No more than the owner has given.
    if (!scope.every((token) => subject.scope.includes(token))) return undefined
    return { subject: subject.subject, scope, audience: [service] }
  },
})
