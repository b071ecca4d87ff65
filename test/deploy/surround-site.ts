/** The parts of nginx.conf that Debian has around a file of conf.d, with every file in one directory. */
export function surroundSite(directory: string, site: string): string {
  return `
daemon off;
master_process off;
pid ${directory}/pid;
error_log ${directory}/error.log;
events { worker_connections 512; }
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${directory}/${name};`).join('\n  ')}
${site}
}
`
}
