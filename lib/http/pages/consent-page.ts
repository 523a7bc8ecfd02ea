import type { ConsentFact } from '../../protocol/extension'
import { html, type Html, pageDocument } from './html'
import { visibleName } from './visible-text'

/** What a consent page shows, and what its form sends. The option `pages.consent` gets this view. */
export interface ConsentView {
  /** The part of the registration that a page may show. */
  readonly client: {
    readonly client_id: string
    /** What a person can see of the name, without invisible characters. Undefined if that is nothing. */
    readonly client_name?: string | undefined
    readonly client_uri?: string | undefined
    readonly description?: string | undefined
    readonly logo_uri?: string | undefined
    readonly policy_uri?: string | undefined
    readonly tos_uri?: string | undefined
    /**
     * Present if the client is not registered by the host: everything above is its own claim. For a client with a
     * metadata document, only `host` is certain, the host of the URL that is its `client_id`, and links lead to this
     * host alone. For a client that registered itself (RFC 7591), nothing is certain, `host` is undefined, and there are
     * no links. A page must show the host, and say that the client is unknown here.
     */
    readonly unregistered?: { readonly host: string | undefined } | undefined
  }
  /** The resource owner who is logged in. `name` is what the person recognises. */
  readonly resourceOwner: { readonly subject: string; readonly name?: string | undefined }
  /**
   * The query of the same request, which leads to the login of the host first, to choose another account; undefined if the
   * request cannot be asked again.
   */
  readonly switchAccount: string | undefined
  /** The requested scope. `description` is the text of the option `scopes`. */
  readonly scope: readonly {
    readonly token: string
    readonly description: string
    readonly group: string | undefined
    readonly weight: 'read' | 'write' | 'danger'
    /** The name of the check box of an optional scope, whose value is `yes`; undefined for a required scope. */
    readonly field: string | undefined
  }[]
  /** A question that the owner answers with the approval; undefined if there is none. */
  readonly question:
    | {
        readonly text: string
        /** The name of the field in the form. */
        readonly field: string
        readonly answers: readonly { readonly value: string; readonly label: string }[]
      }
    | undefined
  /** Why the owner can only cancel; undefined if the owner can approve. */
  readonly obstacle: string | undefined
  /** What extensions add, such as the resources that the access is for. Show each of them. */
  readonly facts: readonly ConsentFact[]
  /** The `action` of the form, which the browser sends by `POST`. */
  readonly action: string
  /** The hidden fields of the form, by name. The form also sends `decision`: `approve` or `deny`. */
  readonly fields: Readonly<Record<string, string>>
  /** The redirection URI to which the decision leads. */
  readonly redirectTo: string
  /**
   * Who gets the decision by {@link redirectTo}: a web site, a program on the device of the resource owner
   * (`http` on loopback), or an app by a scheme of its own. Any program on the device can pass for the last two.
   */
  readonly receiver: 'web' | 'device' | 'app'
}

/** Renders the consent page as a whole document. Escapes every value, and makes links of web URLs only. */
export function consentPage(view: ConsentView): string {
  const { client, resourceOwner } = view
  const name = clientNameOf(client)
  return pageDocument({
    title: `Allow ${name} to access your account?`,
    content: html`
      <header class="intro">
        ${mark(name, client.logo_uri)}
        <h1>
          <bdi class="name">${name}</bdi>
          ${client.unregistered?.host && origin(client.unregistered.host)}
          <span class="subtitle">wants to access your account</span>
        </h1>
        ${!client.unregistered && webLink(client.client_uri)}
        ${client.description && html`<p class="description" dir="auto">${client.description}</p>`}
      </header>
      ${permissions(view.scope)}
      <dl class="facts">
        ${view.facts.map(fact)}
        <div>
          <dt>Signed in as</dt>
          <dd><bdi>${resourceOwner.name || resourceOwner.subject}</bdi></dd>
        </div>
        <div>
          <dt>Returns you to</dt>
          <dd><bdi>${destination(view.redirectTo)}</bdi></dd>
        </div>
      </dl>
      ${client.unregistered && caution(client.unregistered, view.receiver)}
      <form method="post" action="${view.action}" autocomplete="off">
        ${Object.entries(view.fields).map(([key, value]) => html`<input type="hidden" name="${key}" value="${value}" />`)}
        ${view.scope.flatMap(({ field, description }) => (field === undefined ? [] : [html`<label><input type="checkbox" name="${field}" value="yes" />${description}</label>`]))}
        ${view.question && html`<fieldset><legend>${view.question.text}</legend>${view.question.answers.map(({ value, label }) => html`<label><input type="radio" name="${view.question?.field}" value="${value}" />${label}</label>`)}</fieldset>`}
        ${view.obstacle}
        <div class="actions">
          <button type="submit" name="decision" value="deny">Cancel</button>
          <button type="submit" name="decision" value="approve" class="primary">Allow</button>
        </div>
      </form>
      ${fineprint(client)}
    `,
  })
}

// The host stands beside the name, because the name is only what the client calls itself.
function origin(host: string): Html {
  return html`<span class="origin">an app of <bdi>${host}</bdi></span>`
}

type Unregistered = NonNullable<ConsentView['client']['unregistered']>

function caution({ host }: Unregistered, receiver: ConsentView['receiver']): Html {
  return html`<p class="assurance caution" role="note">
    <strong
      >${host === undefined ? 'This app registered itself here.' : 'This app is not registered here.'}</strong
    >
    Its name is its own claim.
    ${host !== undefined && html`All that is certain is that <bdi>${host}</bdi> describes it.`}
    ${receiver === 'device' && 'The access goes to a program on this device: cancel unless you have just started it yourself.'}
    ${receiver === 'app' && 'The access goes to an app on this device, and another app could take its place: cancel unless you have just started it yourself.'}
  </p>`
}

// A logo that does not load shows its alternative text: the initial. Screen readers skip the mark, because logo and
// initial say nothing.
function mark(name: string, logoUri: string | undefined): Html {
  const initial = /[\p{L}\p{N}\p{Extended_Pictographic}]/u.exec(name)?.[0].toUpperCase() ?? '?'
  const logo = webUrl(logoUri)
  const picture =
    logo?.protocol === 'https:' &&
    html`<img src="${logo.href}" alt="${initial}" referrerpolicy="no-referrer" />`
  return html`<div class="mark" aria-hidden="true">${picture || initial}</div>`
}

function permissions(scope: ConsentView['scope']): Html {
  if (scope.length === 0) return html`<p class="permissions">It asks for no particular permission.</p>`
  return html`<section class="permissions">
    <h2>It will be able to</h2>
    <ul>
      ${scope.map(
        ({ token, description }) =>
          html`<li>
            <span dir="auto">${description}</span>${token !== description && html`<code>${token}</code>`}
          </li>`,
      )}
    </ul>
  </section>`
}

function fact({ label, values }: ConsentFact): Html {
  return html`<div>
    <dt>${label}</dt>
    <dd>
      ${values.map(
        ({ value, description }) =>
          html`<p><bdi>${description}</bdi>${value !== description && html`<code>${value}</code>`}</p>`,
      )}
    </dd>
  </div>`
}

function fineprint(client: ConsentView['client']): Html | undefined {
  const policy = webLink(client.policy_uri, 'Privacy policy')
  const terms = webLink(client.tos_uri, 'Terms of service')
  return policy || terms ? html`<footer class="fineprint">${policy} ${terms}</footer>` : undefined
}

/** The name of a client on a page: what a person can see of its `client_name`, or its `client_id` if that is nothing. */
export function clientNameOf(client: {
  readonly client_id: string
  readonly client_name?: string | undefined
}): string {
  return visibleName(client.client_name) ?? client.client_id
}

/** Parses an absolute http or https URL. Undefined for any other text, such as `javascript:`. */
export function webUrl(uri: string | undefined): URL | undefined {
  if (!uri || !URL.canParse(uri)) return undefined
  const url = new URL(uri)
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined
}

/**
 * A link to a web page of the client. It opens in a new tab, and the consent page stays. Undefined if the URI is not
 * a web URL.
 */
function webLink(uri: string | undefined, text?: string): Html | undefined {
  const url = webUrl(uri)
  if (!url) return undefined
  return html`<a href="${url.href}" target="_blank" rel="noopener noreferrer nofollow"
    >${text ?? url.host}</a
  >`
}

/**
 * A readable name for the target of a redirection URI: the host of an https URL, the origin of an http URL, the
 * scheme of an app.
 */
export function destination(uri: string): string {
  const url = webUrl(uri)
  if (url) return url.protocol === 'https:' ? url.host : url.origin
  return URL.canParse(uri) ? `an app on this device (${new URL(uri).protocol})` : uri
}
