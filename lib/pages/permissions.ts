import { html, type Html } from './html'
import type { PageTexts } from './texts/catalogues'

/** One requested scope on the consent page. */
export interface ConsentScope {
  readonly token: string
  /** The text of the option `scopes`, or else the token. */
  readonly description: string
  /** The heading of scopes that belong together; undefined without one. */
  readonly group: string | undefined
  /** What the scope lets a client do. A page must mark `danger`. */
  readonly weight: 'read' | 'write' | 'danger'
  /** The check box of an optional scope, whose value is `yes`; undefined for a required scope. */
  readonly field: string | undefined
  /** Whether this owner has allowed this client the scope before, for the same resources. */
  readonly allowedBefore: boolean
}

interface Group {
  readonly heading: string | undefined
  readonly scopes: ConsentScope[]
}

/** Groups by their first scope, then dangerous scopes of all groups, then those allowed before. */
export function permissions(scope: readonly ConsentScope[], { consent }: PageTexts): Html {
  if (scope.length === 0) return html`<p class="permissions">${consent.noPermission}</p>`
  const asked = scope.filter(({ allowedBefore }) => !allowedBefore)
  const known = scope.filter(({ allowedBefore }) => allowedBefore)
  const harmless = asked.filter(({ weight }) => weight !== 'danger')
  const dangerous = asked.filter(({ weight }) => weight === 'danger')
  const hasBox = scope.some(({ field }) => field !== undefined)
  return html`<section class="permissions">
    <h2>${consent.permissions}</h2>
    ${groupsOf(harmless).map((group) => list(group, consent))}
    ${dangerous.length > 0 && list({ heading: consent.dangerous, scopes: dangerous }, consent, 'danger')}
    ${known.length > 0 && list({ heading: consent.allowedBefore, scopes: known }, consent)}
    ${hasBox && html`<p class="hint">${consent.optional}</p>`}
  </section>`
}

/** No heading asks for a decision. */
export function givenPermissions(scope: readonly ConsentScope[], { consent }: PageTexts): Html {
  const harmless = scope.filter(({ weight }) => weight !== 'danger')
  const dangerous = scope.filter(({ weight }) => weight === 'danger')
  return html`${groupsOf(harmless).map((group) => list(group, consent))}${
    dangerous.length > 0 && list({ heading: undefined, scopes: dangerous }, consent, 'danger')
  }`
}

function groupsOf(scope: readonly ConsentScope[]): readonly Group[] {
  const groups = new Map<string | undefined, Group>()
  for (const one of scope) {
    const group = groups.get(one.group)
    if (group === undefined) groups.set(one.group, { heading: one.group, scopes: [one] })
    else group.scopes.push(one)
  }
  return [...groups.values()]
}

function list({ heading, scopes }: Group, consent: PageTexts['consent'], kind?: 'danger'): Html {
  return html`${heading !== undefined && html`<h3 dir="auto">${heading}</h3>`}
    <ul${kind !== undefined && html` class="${kind}"`}>
      ${scopes.map((scope) => item(scope, consent))}
    </ul>`
}

function item({ token, description, weight, field }: ConsentScope, consent: PageTexts['consent']): Html {
  const text = html`<span dir="auto">${description}</span
    >${token !== description && html`<code>${token}</code>`}${weightMark(weight, consent)}`
  if (field === undefined) return html`<li>${text}</li>`
  return html`<li class="optional">
    <label><input type="checkbox" name="${field}" value="yes" /><span class="choice">${text}</span></label>
  </li>`
}

function weightMark(weight: ConsentScope['weight'], consent: PageTexts['consent']): Html | undefined {
  if (weight === 'read') return undefined
  return weight === 'danger'
    ? html`<strong class="weight">${consent.dangerMark}</strong>`
    : html`<span class="weight">${consent.writeMark}</span>`
}
