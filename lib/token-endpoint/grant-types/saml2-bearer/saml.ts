import { refused } from './xml-text'
import type { Element } from './xml-document'

const namespace = 'urn:oasis:names:tc:SAML:2.0:assertion'

export function isSaml(element: Element, name: string): boolean {
  return element.namespace === namespace && element.name === name
}

/** Its children of this name in SAML's vocabulary. */
export function childrenOf(element: Element, name: string): readonly Element[] {
  return element.children.filter((child) => isSaml(child, name))
}

/** Its only child of this name; undefined when there is none, or are several. */
export function onlyChildOf(element: Element, name: string): Element | undefined {
  const found = childrenOf(element, name)
  return found.length === 1 ? found[0] : undefined
}

/** The text of an element that has nothing else, letter by letter. */
export function textOf(element: Element | undefined): string | undefined {
  return element === undefined || element.children.length > 0 ? undefined : element.text
}

// SAML Core 1.3.3: in UTC, without another time zone.
const instantGrammar = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,9})?Z$/

/** An instant in whole seconds since the epoch; undefined when the attribute is not there. */
export function instantOf(element: Element, attribute: string): number | undefined {
  const text = element.attributes.get(attribute)
  if (text === undefined) return undefined
  const toTheSecond = instantGrammar.exec(text)?.[1]
  const time = Date.parse(`${toTheSecond}Z`)
  // A day that is not in the calendar would be read as one of the next month.
  if (Number.isNaN(time) || !new Date(time).toISOString().startsWith(`${toTheSecond}.`))
    throw refused('saml_instant_malformed')
  return time / 1000
}
