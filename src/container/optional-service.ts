/** Returns the service of this name, or undefined if nothing provides it: the container would throw. */
export function optionalService<Service>(services: object, name: string): Service | undefined {
  return Object.hasOwn(services, name) ? (services as Readonly<Record<string, Service>>)[name] : undefined
}
