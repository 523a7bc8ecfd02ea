export interface PrivateState<Holder extends object, Value> {
  get(holder: Holder): Value | undefined
  set(holder: Holder, value: Value): void
}

let kinds = 0

/**
 * A value of an object of other code, which cannot see it. All kinds share one private field: two hidden classes in
 * all. A long-lived `WeakMap` would move each request to the old generation.
 */
export function privateState<Holder extends object, Value>(): PrivateState<Holder, Value> {
  const kind = kinds++
  return {
    get(holder) {
      const values = PrivateField.of(holder)
      return values && Reflect.get(values, kind)
    },
    set(holder, value) {
      Reflect.set(PrivateField.of(holder) ?? PrivateField.addTo(holder), kind, value)
    },
  }
}

// A subclass can add a private field to the returned object.
// oxlint-disable-next-line typescript/no-extraneous-class
class ReturnsHolder {
  constructor(holder: object) {
    return holder
  }
}

class PrivateField extends ReturnsHolder {
  // An empty list would grow to room for 17.
  readonly #values: object = [undefined, undefined, undefined, undefined]

  static of(holder: object): object | undefined {
    return #values in holder ? holder.#values : undefined
  }

  static addTo(holder: object): object {
    return new PrivateField(holder).#values
  }
}
