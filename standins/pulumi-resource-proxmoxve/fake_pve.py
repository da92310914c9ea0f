"""A Proxmox VE API on loopback for tests: PyPI's fakepve, with its known differences from Proxmox mended here.

Usage: fake_pve.py <directory>. Writes <directory>/ca.pem, prints one line of JSON {"endpoint", "token"} and serves until
its standard input closes, so that it never outlives the test that started it.

Each patch names what was seen of the vendor's provider (8.3.0) or of Proxmox; where nothing is named, fakepve is as it is.
"""

import asyncio
import json
import os
import re
import sys

from fakepve.certs import make_cert
from fakepve.lxc import format_size, parse_size
from fakepve.qemu import split_drive, join_drive, is_cdrom
from fakepve.routing import die
from fakepve.server import FakePve

TOKEN_ID = 'meshbench@pve!test'
TOKEN_SECRET = '11111111-2222-3333-4444-555555555555'
NUMBERS = ('cores', 'sockets', 'vcpus', 'memory', 'balloon', 'numa', 'onboot', 'protection', 'template', 'acpi', 'kvm', 'tablet', 'swap')


class Patched(FakePve):
    """fakepve as the provider needs it."""

    @staticmethod
    def _node_stats(online):
        # Room for the published stack, which fakepve's 8 GiB are not.
        return dict(FakePve._node_stats(online), maxmem=64 * 1024 ** 3, maxcpu=16)

    def _register_stateful(self, router, prefixes):
        # The provider calls DELETE .../qemu/ID/?purge=1 with a slash that Proxmox takes and the fake would ignore.
        template = '/nodes/{node}/qemu/{vmid}'
        for prefix in prefixes:
            router.add_delete(prefix + template + '/', self._stateful_handler(template, self._qm_destroy))
        super()._register_stateful(router, prefixes)

    async def task(self, node, ttype, tid, user, body, vm=None, lock=True, log=()):
        # Proxmox makes a guest, or fetches a file, in a task of its own, however long ago the caller went away; until that
        # is over the guest has a number, a lock, and no name.
        seconds = float(os.environ.get('FAKE_PVE_MAKING_SECONDS', '0'))
        if not seconds or ttype not in ('qmcreate', 'vzcreate', 'download'):
            return await super().task(node, ttype, tid, user, body, vm=vm, lock=lock, log=log)
        if ttype == 'qmcreate':
            vm.name = 'VM {0}'.format(vm.vmid)

        async def slow():
            await asyncio.sleep(seconds)
            return await body()
        self.time_scale = 1.0
        try:
            return await super().task(node, ttype, tid, user, slow, vm=vm, lock=lock, log=log)
        finally:
            self.time_scale = 0.0

    async def _lxc_config_get(self, user, v):
        # Proxmox keeps a description as comment lines and gives it back with a newline at its end.
        shown = dict(await super()._lxc_config_get(user, v))
        if shown.get('description') and not shown['description'].endswith('\n'):
            shown['description'] += '\n'
        return shown

    def _routes_seen(self):
        # For tests: what was asked so far, one line each, in an answer that Proxmox gives to nobody.
        return [('GET', '/cluster/log', self._seen)]

    async def _seen(self, v, user):
        return ['{0} {1} {2}'.format(method, path, body.decode('utf8', 'replace')) for method, path, body in self.requests]

    def _routes_resize(self):
        return [('PUT', '/nodes/{node}/qemu/{vmid}/resize', self._qm_resize)]

    async def _qm_resize(self, v, user):
        # fakepve answers this call and changes nothing, so that every later run would see too small a disk.
        vm = self.find(v['node'], v['vmid'])
        key, wanted = v['disk'], parse_size(v['size'])
        volume, props = split_drive(str(vm.config[key]))
        if wanted < (parse_size(props.get('size', '0')) or 0):
            raise die('shrinking disks is not supported')

        async def body():
            vm.config[key] = join_drive(volume, dict(props, size=format_size(wanted)))
            sid, _, name = volume.partition(':')
            self.storages[sid].get('volumes', {}).get(name, {})['size'] = wanted
        return await self.task(vm.node, 'resize', vm.vmid, user, body, vm=vm)

    def _qm_new_drive(self, vmid, key, value, default):
        volume, _ = split_drive(value)
        if volume.endswith(':cloudinit'):
            # Proxmox names this volume vm-<id>-cloudinit; the provider looks for that name.
            text, made = super()._qm_new_drive(vmid, key, value, default)
            return self._renamed(text, made, 'vm-{0}-cloudinit'.format(vmid))
        props = split_drive(value)[1]
        if 'import-from' in props:
            # The new disk is at least as large as the image, and grows to the size asked for afterwards.
            source = props.pop('import-from')
            sid, _, name = source.partition(':')
            if name not in self._volumes(sid):
                raise die("volume {0} does not exist".format(source))
            props.pop('size', None)
            target = re.sub(r':0$', ':3', volume)
            return super()._qm_new_drive(vmid, key, join_drive(target, props), default)
        return super()._qm_new_drive(vmid, key, value, default)

    def _renamed(self, text, made, wanted):
        old = made[0]
        sid, _, name = old.partition(':')
        volumes = self.storages[sid].setdefault('volumes', {})
        volumes[wanted] = volumes.pop(name)
        new = '{0}:{1}'.format(sid, wanted)
        return text.replace(old, new), [new]

    async def _apply_config(self, vm, user, p):
        # fakepve drops a lock; Proxmox keeps it in the configuration until its task, or root, takes it away.
        p = dict(p)
        lock, deleted = p.pop('lock', None), str(p.get('delete', '')).split(',')
        if 'lock' in deleted:
            vm.config.pop('lock', None)
            deleted.remove('lock')
            p.pop('delete')
            if deleted:
                p['delete'] = ','.join(deleted)
        if lock is not None:
            vm.config['lock'] = lock
        await super()._apply_config(vm, user, p)
        # A PUT brings text; Proxmox keeps and shows whole numbers.
        for store in (vm.config, vm.pending):
            for key in NUMBERS:
                if isinstance(store.get(key), str) and store[key].isdigit():
                    store[key] = int(store[key])
        for key, value in list(vm.config.items()):
            volume, props = split_drive(str(value)) if re.match(r'^(ide|sata|scsi|virtio)\d+$', key) else ('', {})
            if volume.endswith(':cloudinit') and is_cdrom(volume, props) is not None:
                text, made = self._qm_new_drive(vm.vmid, key, value, None)
                vm.config[key] = text


async def serve(directory):
    pve = Patched(host='127.0.0.1', port=0)
    pve.nodes = {'pve': {'online': True}}
    # Content types that a user switches on: `import` is off in a new Proxmox.
    pve.storages['local']['content'] = os.environ.get('FAKE_PVE_CONTENT', 'iso,vztmpl,backup,import')
    pve.apitokens[TOKEN_ID] = TOKEN_SECRET
    cert, key, _ = make_cert(directory, name='ca', hosts=('127.0.0.1',))
    os.replace(cert, os.path.join(directory, 'ca.pem'))
    await pve.start(os.path.join(directory, 'ca.pem'), key)
    os.unlink(key)
    print(json.dumps({'endpoint': pve.url, 'token': '{0}={1}'.format(TOKEN_ID, TOKEN_SECRET)}), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await pve.stop()


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    asyncio.run(serve(sys.argv[1]))
    os._exit(0)
